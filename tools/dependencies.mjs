import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root, runNpm, seconds } from './run.mjs';

const progressInterval = 10_000;

/** Explains npm's error codes after a fresh clone. */
const troubles = [
	{
		codes: ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'ENETUNREACH'],
		says: 'The npm registry cannot be reached. Check the network, the proxy (`npm config get proxy`) and the registry (`npm config get registry`).',
	},
	{
		codes: ['E401', 'E403', 'ENEEDAUTH'],
		says: 'The npm registry denied access. Check `npm config get registry`, and log in again (`npm login`).',
	},
	{
		codes: ['E404', 'ETARGET'],
		says: 'The npm registry does not have a version that package-lock.json requires. Check `npm config get registry`.',
	},
	{
		codes: ['EUSAGE'],
		says: 'package.json and package-lock.json do not match. Run `npx npm@10 install --package-lock-only` and commit the lock file.',
	},
	{
		codes: ['EINTEGRITY'],
		says: 'A downloaded package is corrupt. Run `npm cache clean --force` and try again.',
	},
	{ codes: ['ENOSPC'], says: 'The disk is full.' },
	{
		codes: ['EACCES', 'EPERM', 'EROFS'],
		says: 'npm cannot write to the folder. Check its permissions.',
	},
];

function readJson(...path) {
	return JSON.parse(readFileSync(join(...path), 'utf8'));
}

/** Fails with a clear message on a Node.js version that is too old. */
function refuseOldNode() {
	const wanted = Number(/\d+/.exec(readJson(root, 'package.json').engines.node)[0]);
	const major = Number(process.versions.node.split('.')[0]);
	if (major >= wanted) return;
	throw new Error(
		`Node.js ${wanted} or newer is required. You are using ${process.versions.node}.`,
	);
}

/**
 * True if node_modules matches package-lock.json. npm writes its own lock file there when an installation is complete.
 * Optional packages may be missing, such as those for other platforms.
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
 * Explains an error of npm.
 *
 * @param {string} headline what failed
 * @param {string} stderr output of npm
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
	console.log(`Installing ${count} packages (npm ci). This takes a few minutes, and happens once.`);
	const started = Date.now();
	const progress = setInterval(
		() => console.log(`  still installing, ${Math.round((Date.now() - started) / 1000)} s`),
		progressInterval,
	);
	// With NODE_ENV=production, npm would omit the dev dependencies.
	const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--prefer-offline'];
	const { code, stderr } = await runNpm(args, { cwd: folder, output: 'hide' });
	clearInterval(progress);
	if (code !== 0) throw new Error(explainNpm('The dependencies could not be installed', stderr));
	const duration = Date.now() - started;
	console.log(`Installed in ${seconds(duration)}.\n`);
	return duration;
}

/**
 * Installs the dependencies if node_modules does not match package-lock.json.
 *
 * @param {string} [folder] folder of the package; by default, this repository
 * @returns {Promise<number>} duration of the installation in milliseconds; 0 if nothing was installed
 */
export async function ensureDependencies(folder = root) {
	refuseOldNode();
	return isInstalled(folder) ? 0 : await install(folder);
}

/**
 * Does the same for a command line tool. On an error, prints a message and ends the process.
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
