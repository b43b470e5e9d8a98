import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { run } from '../../tools/run.mjs';

/** The programs that the tests start, by the Debian packages that contain them. */
const programs = {
	chromium: () => onPath('chromium'),
	'redis-server': () => onPath('redis-server'),
	postgresql: postgresFolder,
};

function onPath(name) {
	const folders = (process.env.PATH ?? '').split(delimiter);
	return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path) {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

/** Debian keeps PostgreSQL's own programs outside of the path, in one folder for each version. */
function postgresFolder() {
	const home = '/usr/lib/postgresql';
	const versions = existsSync(home) ? readdirSync(home) : [];
	return versions
		.map((version) => join(home, version, 'bin'))
		.find((bin) => isProgram(join(bin, 'initdb')));
}

function missing() {
	return Object.keys(programs).filter((name) => !programs[name]());
}

async function apt(...args) {
	const env = { DEBIAN_FRONTEND: 'noninteractive' };
	const { code, stdout, stderr } = await run('apt-get', args, { env, output: 'hide' });
	if (code !== 0) throw new Error(`apt-get ${args[0]} failed:\n${(stderr || stdout).trim()}`);
}

async function install(packages) {
	console.log(`Installing ${packages.join(', ')} with apt-get.`);
	await apt('update', '-qq');
	await apt('install', '-y', '-qq', '--no-install-recommends', ...packages);
}

/**
 * Makes sure that the programs are installed. Installs them if run as root on Debian; otherwise says what to do.
 *
 * @returns {Promise<Record<string, string>>} the path of each program
 */
export async function ensureProgramsOrExit() {
	try {
		const packages = missing();
		if (packages.length > 0 && process.getuid?.() === 0 && onPath('apt-get'))
			await install(packages);
		const still = missing().join(', ');
		if (still) throw new Error(`These tests need ${still}: install them first.`);
	} catch (error) {
		console.error(`\n${error.message}`);
		process.exit(1);
	}
	return Object.fromEntries(Object.entries(programs).map(([name, find]) => [name, find()]));
}
