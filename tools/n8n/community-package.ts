import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const runFile = promisify(execFile);

/**
 * Packs the built package as `npm publish` would.
 *
 * @param root folder of the package
 * @param target folder for the tarball
 * @returns path of the tarball
 */
export async function packPackage(root: string, target: string): Promise<string> {
	await mkdir(target, { recursive: true });
	const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', target];
	const shell = process.platform === 'win32';
	const { stdout } = await runFile('npm', args, { cwd: root, shell });
	const [{ filename }] = Object.values(JSON.parse(stdout) as Record<string, { filename: string }>);
	return join(target, filename);
}

/** Returns n8n's folder of the installed package. `userFolder` is n8n's `N8N_USER_FOLDER`. */
export function installedFolder(userFolder: string): string {
	return join(userFolder, '.n8n', 'nodes', 'node_modules', 'n8n-nodes-media-generation');
}

/**
 * Unpacks a tarball to n8n's folder for community packages, as n8n's installer does: without dev dependencies, and
 * with an entry in the manifest of installed packages.
 *
 * @param userFolder n8n's `N8N_USER_FOLDER`
 */
export async function installPackage(tarball: string, userFolder: string): Promise<void> {
	const nodes = join(userFolder, '.n8n', 'nodes');
	const folder = installedFolder(userFolder);
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	await runFile('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);

	const file = join(folder, 'package.json');
	const manifest = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
	for (const field of ['devDependencies', 'peerDependencies', 'optionalDependencies']) {
		delete manifest[field];
	}
	await writeFile(file, JSON.stringify(manifest, null, 2));
	const dependencies = { [String(manifest.name)]: manifest.version };
	const ledger = { name: 'installed-nodes', private: true, dependencies };
	await writeFile(join(nodes, 'package.json'), JSON.stringify(ledger, null, 2));
}
