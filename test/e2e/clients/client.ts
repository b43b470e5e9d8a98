import { execFile } from 'node:child_process';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../support/surroundings';

const run = promisify(execFile);

/** Installs a release of a client in a folder of its own, unless it is there. Returns the folder. */
async function installed(name: string, version: string): Promise<string> {
	const folder = join(
		repository,
		'output',
		'clients',
		`${name}-${version}`.replaceAll(/[@/]/g, '_'),
	);
	if (await stat(folder).catch(() => null)) return folder;
	const unfinished = `${folder}.unfinished`;
	await rm(unfinished, { recursive: true, force: true });
	await mkdir(unfinished, { recursive: true });
	const manifest = { name: 'client', private: true, dependencies: { [name]: version } };
	await writeFile(join(unfinished, 'package.json'), JSON.stringify(manifest));
	const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
	await run('npm', ['install', ...options], {
		cwd: unfinished,
		shell: process.platform === 'win32',
	});
	await rename(unfinished, folder);
	return folder;
}

/**
 * Runs a program of this folder with a release of a client, as a process of its own because each release has other
 * dependencies.
 *
 * @returns what the program prints as JSON
 */
export async function runClient(
	program: string,
	[name, version]: readonly [string, string],
	...args: readonly string[]
): Promise<unknown> {
	const folder = await installed(name, version);
	const script = join(__dirname, program);
	const { stdout } = await run(process.execPath, ['--import', 'tsx', script, folder, ...args], {
		cwd: repository,
	});
	return JSON.parse(stdout);
}
