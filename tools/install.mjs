// node tools/install.mjs, or imported before a program: runs `npm ci` if node_modules does not match the lock file.
// It imports no packages, because none may be installed yet.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import './no-proxy.cjs';

const root = fileURLToPath(new URL('..', import.meta.url));

function read(file) {
	return JSON.parse(readFileSync(`${root}${file}`, 'utf8'));
}

function fail(message) {
	console.error(`\n${message}`);
	process.exit(1);
}

/** npm writes its own lock file when an installation is complete. Packages for other platforms are missing in it. */
function isInstalled() {
	if (!existsSync(`${root}node_modules/.package-lock.json`)) return false;
	const present = read('node_modules/.package-lock.json').packages;
	return Object.entries(read('package-lock.json').packages).every(
		([path, { version, link, optional, devOptional }]) =>
			path === '' ||
			link ||
			(present[path] ? present[path].version === version : optional || devOptional),
	);
}

const wanted = Number(/\d+/.exec(read('package.json').engines.node)[0]);
if (Number(process.versions.node.split('.')[0]) < wanted) {
	fail(`Node.js ${wanted} or newer is required. You are using ${process.versions.node}.`);
}
if (!isInstalled()) {
	console.error(
		'Installing the dependencies (npm ci). This takes a few minutes, and happens once.',
	);
	// With NODE_ENV=production, npm would omit the dev dependencies.
	const args = ['ci', '--ignore-scripts', '--include=dev', '--prefer-offline'];
	const shell = process.platform === 'win32';
	const { status } = spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2], shell });
	if (status !== 0) fail('The dependencies could not be installed: see the message of npm above.');
}
