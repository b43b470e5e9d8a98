// node tools/check-package.mjs, at the end of `npm run build`
// Packs what `npm publish` would upload, into output/package. Checks that it has everything that n8n needs, nothing else,
// and passes n8n's scan.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import {
	analyzePackage,
	SOURCE_FILE_PATTERNS,
} from '@n8n/scan-community-package/scanner/scanner.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'output', 'package');

/** Far above the size of the code: the limit is there to catch files that do not belong in it. */
const maximumBytes = 145_000;
const allowedPaths = [
	/^(package\.json|README\.md|LICENSE)$/,
	/^dist\/(credentials|nodes|client)\/.*\.js$/,
	/^dist\/nodes\/\w+\/\w+\.node\.json$/,
	/^dist\/nodes\/\w+\/__schema__\/.*\.json$/,
	/^dist\/icons\/\w+(\.dark)?\.svg$/,
];
/** The imports that n8n Cloud allows and this package uses. The lint rule would also accept devDependencies. */
const allowedImports = /^(\.\.?\/.*|n8n-workflow|(node:)?crypto)$/;

function pack() {
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	const args = ['pack', '--json', '--pack-destination', folder];
	const shell = process.platform === 'win32';
	// One entry per package: in an array or, in newer releases of npm, in an object by name.
	const [report] = Object.values(
		JSON.parse(execFileSync('npm', args, { cwd: root, shell, encoding: 'utf8' })),
	);
	execFileSync('tar', ['-xzf', report.filename], { cwd: folder });
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

/**
 * The rules of n8n's scan, which decides about verification. Its command only accepts packages that are on npm. Unlike
 * the linter, it ignores comments that disable rules, and it also checks the compiled code.
 */
async function findViolations() {
	const scanned = [
		await analyzePackage(join(folder, 'package'), ['**/*.js', 'package.json']),
		await analyzePackage(root, SOURCE_FILE_PATTERNS),
	];
	return scanned
		.filter(({ passed }) => !passed)
		.map(({ message, details }) => [message, details].filter(Boolean).join('\n'));
}

const { n8n } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { size, paths } = pack();
const problems = [
	...findStrangers(paths),
	...findMissing(paths, n8n),
	...findForbiddenImports(paths),
	...findMissingIcons(paths),
	...(await findViolations()),
];
if (size >= maximumBytes) problems.push(`${size} bytes packed, at most ${maximumBytes} allowed`);

console.log(`Package: ${paths.length} files, ${(size / 1000).toFixed(1)} kB packed.`);
for (const problem of problems) console.error(`  ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
