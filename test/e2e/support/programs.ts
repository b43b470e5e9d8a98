import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The programs that the tests start, by the Debian packages that contain them. */
const programs = {
	chromium: () => onPath('chromium'),
	'redis-server': () => onPath('redis-server'),
	postgresql: postgresFolder,
};

function onPath(name: string): string | undefined {
	const folders = (process.env.PATH ?? '').split(delimiter);
	return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

/** Debian keeps PostgreSQL's own programs outside of the path, in one folder for each version. */
function postgresFolder(): string | undefined {
	const home = '/usr/lib/postgresql';
	const versions = existsSync(home) ? readdirSync(home) : [];
	return versions
		.map((version) => join(home, version, 'bin'))
		.find((bin) => isProgram(join(bin, 'initdb')));
}

/** The local programs that the tests start. For PostgreSQL, the folder that holds `initdb` and `postgres`. */
export type Programs = Record<keyof typeof programs, string>;

function missing(): string[] {
	return Object.entries(programs)
		.filter(([, find]) => !find())
		.map(([name]) => name);
}

function apt(...args: string[]): void {
	const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
	execFileSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Returns the path of each program. Installs them if run as root on Debian; otherwise throws and says what is missing. */
export function ensurePrograms(): Programs {
	const packages = missing();
	if (packages.length > 0 && process.getuid?.() === 0 && onPath('apt-get')) {
		console.log(`Installing ${packages.join(', ')} with apt-get.`);
		apt('update', '-qq');
		apt('install', '-y', '-qq', '--no-install-recommends', ...packages);
	}
	const still = missing().join(', ');
	if (still) throw new Error(`These tests need ${still}: install them first.`);
	const found = Object.entries(programs).map(([name, find]) => [name, find()]);
	return Object.fromEntries(found) as Programs;
}
