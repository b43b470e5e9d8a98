/** Builds `dist`: the compiled nodes, and next to them the assets that n8n loads. */
const { spawn } = require('node:child_process');
const { rm } = require('node:fs/promises');
const { pipeline } = require('node:stream/promises');

const { dest, parallel, series, src } = require('gulp');

async function clean() {
	await rm('dist', { recursive: true, force: true });
}

function compile() {
	const tsc = require.resolve('typescript/bin/tsc');
	return spawn(
		process.execPath,
		[tsc, '-p', 'tsconfig.json', '--noEmitOnError', '--removeComments'],
		{
			stdio: 'inherit',
		},
	);
}

/** Runs a check on every file. The check throws if the file must not be published. */
function checked(check) {
	return async function* (files) {
		for await (const file of files) {
			try {
				await check(file.relative, file.contents.toString());
			} catch (error) {
				throw new Error(`${file.relative}: ${error.message}`);
			}
			yield file;
		}
	};
}

function publish(displayName, glob, rule) {
	const task = async () => {
		const rules = await import('./tools/asset-rules.mjs');
		await pipeline(src(glob, { base: '.' }), checked(rules[rule]), dest('dist'));
	};
	return Object.assign(task, { displayName });
}

const assets = parallel(
	publish('icons', 'icons/*.svg', 'checkIcon'),
	publish('codex', 'nodes/*/*.node.json', 'checkCodex'),
	publish('schemas', 'nodes/*/__schema__/**/*.json', 'checkSchema'),
);

/** Writes the output schema of the nodes that return generations. */
async function generationSchemas() {
	const tsx = require('tsx/cjs/api');
	const { writeGenerationSchemas } = tsx.require('./tools/output-schema.ts', __filename);
	writeGenerationSchemas(__dirname, require('./package.json').n8n.nodes);
}

exports.clean = clean;
exports.assets = assets;
// The compiler is last: a build counts as complete when the compiled files exist (tools/build.ts).
exports.build = series(clean, assets, generationSchemas, compile);
exports.default = exports.build;
