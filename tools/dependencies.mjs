import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root, runNpm, seconds } from './run.mjs';

const progressInterval = 10_000;

/** Explains npm's error codes after a fresh clone. */
const troubles = [
	{
		codes: ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'ENETUNREACH'],
		says: 'The npm registry cannot be reached. Check the network, a proxy (`npm config get proxy`) and the registry (`npm config get registry`).',
	},
	{
		codes: ['E401', 'E403', 'ENEEDAUTH'],
		says: 'The npm registry refuses access. Check `npm config get registry` and the login there.',
	},
	{
		codes: ['E404', 'ETARGET'],
		says: 'The npm registry does not hold a version that package-lock.json names. Check `npm config get registry`.',
	},
	{
		codes: ['EUSAGE'],
		says: 'package.json and package-lock.json do not agree. Run `npx npm@10 install --package-lock-only` and commit the lock file.',
	},
	{
		codes: ['EINTEGRITY'],
		says: 'A downloaded package is damaged. Run `npm cache clean --force` and try again.',
	},
	{ codes: ['ENOSPC'], says: 'The disk is full.' },
	{ codes: ['EACCES', 'EPERM', 'EROFS'], says: 'The folder cannot be written to.' },
];

function readJson(...path) {
	return JSON.parse(readFileSync(join(...path), 'utf8'));
}

/** Nothing here runs on an older Node, and its own messages would not say so. */
function refuseOldNode() {
	const wanted = Number(/\d+/.exec(readJson(root, 'package.json').engines.node)[0]);
	const major = Number(process.versions.node.split('.')[0]);
	if (major >= wanted) return;
	throw new Error(`Node.js ${wanted} or newer is needed; this is ${process.versions.node}.`);
}

/**
 * Whether node_modules holds what package-lock.json says: npm leaves its own lock file there when
 * an installation is complete. Optional packages may be missing, as those of other platforms are.
 */
function isInstalled(folder) {
	if (!existsSync(join(folder, 'node_modules', '.package-lock.json'))) return false;
	const wanted = readJson(folder, 'package-lock.json').packages;
	const present = readJson(folder, 'node_modules', '.package-lock.json').packages;
	return Object.entries(wanted).every(([path, { version, link, optional, devOptional }]) => {
		if (path === '' || link) return true;
		if (!present[path]) return optional || devOptional;
		return present[path].version === version;
	});
}

/**
 * What went wrong with npm, in plain words first.
 *
 * @param {string} headline what could not be done
 * @param {string} stderr of npm
 */
export function explainNpm(headline, stderr) {
	const code = /npm (?:error|ERR!) code (\S+)/.exec(stderr)?.[1];
	const trouble = troubles.find(({ codes }) => codes.includes(code));
	const details = stderr.trim().split('\n').slice(0, 20).join('\n');
	return [`${headline}${code ? ` (${code})` : ''}.`, trouble?.says, details]
		.filter(Boolean)
		.join('\n\n');
}

async function install(folder) {
	const count = Object.keys(readJson(folder, 'package-lock.json').packages).length - 1;
	console.log(`Installing ${count} packages (npm ci). This happens once and takes a few minutes.`);
	const started = Date.now();
	const progress = setInterval(
		() => console.log(`  still installing, ${Math.round((Date.now() - started) / 1000)} s`),
		progressInterval,
	);
	// `--include=dev`: with NODE_ENV=production npm would leave out everything we have.
	const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--prefer-offline'];
	const { code, stderr } = await runNpm(args, { cwd: folder, output: 'hide' });
	clearInterval(progress);
	if (code !== 0) throw new Error(explainNpm('The dependencies could not be installed', stderr));
	const duration = Date.now() - started;
	console.log(`Installed in ${seconds(duration)}.\n`);
	return duration;
}

/**
 * Makes sure that node_modules is what package-lock.json says, installing it if need be.
 *
 * @param {string} [folder] of the package; this one's by default
 * @returns {Promise<number>} milliseconds the installation took, 0 when there was nothing to do
 */
export async function ensureDependencies(folder = root) {
	refuseOldNode();
	return isInstalled(folder) ? 0 : await install(folder);
}

/**
 * The same for a command line: says in plain words what is wrong, and ends the process.
 *
 * @param {string} [folder]
 * @returns {Promise<number>}
 */
export async function ensureDependenciesOrExit(folder) {
	try {
		return await ensureDependencies(folder);
	} catch (error) {
		console.error(`\n${error.message}`);
		process.exit(1);
	}
}
