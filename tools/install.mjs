// node tools/install.mjs [--extras], or imported: runs `npm ci` if node_modules does not match the lock file.
// With --extras also in tools/extras, whose packages are then linked into node_modules.
// It imports no packages, because none may be installed yet.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import './no-proxy.cjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const extras = join(root, 'tools', 'extras');

/** Tells child processes which folder was checked. Parallel children would otherwise run `npm ci` at the same time. */
const checkedVariable = 'MEDIA_DEPENDENCIES_CHECKED_IN';

/** The first minor version that the locked packages support, by major version. Later major versions are all supported. */
const firstMinor = { 20: 19, 22: 13 };

function read(folder, file) {
	return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}

function fail(message) {
	console.error(`\n${message}`);
	process.exit(1);
}

/** Returns true if npm installs a package with these restrictions on this machine. */
function fitsMachine({ os, cpu, libc }) {
	const allows = (list, value) =>
		!list ||
		(list.some((one) => one[0] === '!') ? !list.includes(`!${value}`) : list.includes(value));
	if (!allows(os, process.platform) || !allows(cpu, process.arch)) return false;
	// The report takes a while, and few packages need it.
	return (
		!libc || allows(libc, process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl')
	);
}

/**
 * Compares the lock file with npm's own one, which it writes when an installation is complete. Packages for other
 * platforms may be in it, although they are not installed. If node_modules comes from another platform, those for this
 * machine are missing.
 */
function isInstalled(folder) {
	if (!existsSync(join(folder, 'node_modules/.package-lock.json'))) return false;
	const present = read(folder, 'node_modules/.package-lock.json').packages;
	return Object.entries(read(folder, 'package-lock.json').packages).every(([path, entry]) => {
		const { version, link, optional, devOptional, os, cpu, libc } = entry;
		if (path === '' || link) return true;
		const restricted = optional && (os || cpu || libc);
		if (restricted) return !fitsMachine(entry) || existsSync(join(folder, path, 'package.json'));
		return present[path] ? present[path].version === version : optional || devOptional;
	});
}

/** Runs `npm ci` with the settings that isInstalled relies on, whatever the user's .npmrc says. */
function install(folder) {
	console.error(
		`Installing the dependencies in ${folder} (npm ci). This takes a minute or two, and happens once.`,
	);
	// With NODE_ENV=production, npm would omit the dev dependencies.
	const included = ['--include=dev', '--include=optional', '--include=peer'];
	const layout = [
		'--legacy-peer-deps=false',
		'--engine-strict=false',
		'--install-strategy=hoisted',
	];
	const args = ['ci', '--ignore-scripts', '--prefer-offline', ...included, ...layout];
	const shell = process.platform === 'win32';
	// A parent npm passes its own folder on.
	const env = { ...process.env, npm_config_local_prefix: undefined };
	const { status } = spawnSync('npm', args, { cwd: folder, env, stdio: ['ignore', 2, 2], shell });
	if (status !== 0) fail('The dependencies could not be installed: see the message of npm above.');
	if (isInstalled(folder)) return;
	console.error(
		'npm ci ended without an error, but node_modules does not match package-lock.json, so the next command installs ' +
			'again. A setting of npm may be the reason: npm config list shows all of them.',
	);
}

function link(target, path, type) {
	if (lstatSync(path, { throwIfNoEntry: false })) return;
	mkdirSync(dirname(path), { recursive: true });
	symlinkSync(relative(dirname(path), target), path, type);
}

/** `npm ci` in the root removes the links. */
function linkExtras() {
	const from = join(extras, 'node_modules');
	const to = join(root, 'node_modules');
	for (const name of Object.keys(read(extras, 'package.json').dependencies)) {
		link(join(from, name), join(to, name), 'junction');
	}
	if (process.platform === 'win32' || !existsSync(join(from, '.bin'))) return;
	for (const name of readdirSync(join(from, '.bin'))) {
		link(join(from, '.bin', name), join(to, '.bin', name));
	}
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || minor < (firstMinor[major] ?? 0)) {
	fail(`Node.js 20.19, 22.13, or newer is required. You are using ${process.versions.node}.`);
}
if (process.env[checkedVariable] !== root) {
	if (!isInstalled(root)) install(root);
	if (process.argv[2] === '--extras') {
		if (!isInstalled(extras)) install(extras);
		linkExtras();
	}
	process.env[checkedVariable] = root;
}
