// node tools/pack-check.mjs, after `npm run build`
// Checks that `npm publish` would upload everything that n8n needs, nothing else, and not too much data.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { root, runNpm } from './run.mjs';

/** Far above the size of the code: the limit is there to catch files that do not belong in it. */
const maximumBytes = 140_000;
const allowedPaths = [
	/^(package\.json|README\.md|LICENSE)$/,
	/^dist\/(credentials|nodes|client)\/.*\.js$/,
	/^dist\/nodes\/\w+\/\w+\.node\.json$/,
	/^dist\/nodes\/\w+\/__schema__\/.*\.json$/,
	/^dist\/icons\/\w+(\.dark)?\.svg$/,
];
/** The imports that n8n Cloud allows and this package uses. The lint rule would also accept devDependencies. */
const allowedImports = /^(\.\.?\/.*|n8n-workflow|(node:)?crypto)$/;

async function listPackage() {
	const { code, stdout, stderr } = await runNpm(['pack', '--dry-run', '--json'], {
		output: 'hide',
	});
	if (code !== 0) throw new Error(`npm pack failed:\n${stderr}`);
	// One entry per package: in an array or, in newer releases of npm, in an object by name.
	const [report] = Object.values(JSON.parse(stdout));
	return { size: report.size, paths: report.files.map(({ path }) => path) };
}

function findStrangers(paths) {
	return paths
		.filter((path) => !allowedPaths.some((allowed) => allowed.test(path)))
		.map((path) => `${path} does not belong in the package`);
}

function findMissing(paths, { nodes, credentials }) {
	const beside = (node) => [node, `${node.slice(0, -'js'.length)}json`];
	const needed = [...nodes.flatMap(beside), ...credentials, 'LICENSE', 'README.md'];
	const schemaless = nodes
		.map((node) => `${dirname(node)}/__schema__/`)
		.filter((folder) => !paths.some((path) => path.startsWith(folder)));
	return [...needed.filter((path) => !paths.includes(path)), ...schemaless].map(
		(path) => `${path} is missing`,
	);
}

function findForbiddenImports(paths) {
	return paths
		.filter((path) => path.endsWith('.js'))
		.flatMap((path) => {
			const code = readFileSync(join(root, path), 'utf8');
			const imports = [...code.matchAll(/\b(?:require|import)\(\s*["'`]([^"'`]+)["'`]\s*\)/g)];
			return imports
				.map(([, name]) => name)
				.filter((name) => !allowedImports.test(name))
				.map((name) => `${path} imports ${name}, which n8n Cloud does not have`);
		});
}

function findMissingIcons(paths) {
	return paths
		.filter((path) => /\.(node|credentials)\.js$/.test(path))
		.flatMap((path) => {
			const code = readFileSync(join(root, path), 'utf8');
			return [...code.matchAll(/["'`]file:([^"'`]+)["'`]/g)]
				.map(([, icon]) => join(dirname(path), icon))
				.filter((icon) => !existsSync(join(root, icon)))
				.map((icon) => `${path} names the icon ${icon}, which is missing`);
		});
}

if (!existsSync(join(root, 'dist'))) {
	console.error('There is no dist to check: npm run build');
	process.exit(1);
}

const { n8n } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { size, paths } = await listPackage();
const problems = [
	...findStrangers(paths),
	...findMissing(paths, n8n),
	...findForbiddenImports(paths),
	...findMissingIcons(paths),
];
if (size >= maximumBytes) problems.push(`${size} bytes packed, at most ${maximumBytes} allowed`);

console.log(`Package: ${paths.length} files, ${(size / 1000).toFixed(1)} kB packed.`);
for (const problem of problems) console.error(`  ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
