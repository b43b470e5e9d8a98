import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { InstalledPackage } from './community-package';
import type { Installation } from './installation';
import type { NodeTypeEntry, Rest } from './rest';

/**
 * Notes an unpacked package in the database of an n8n that runs on SQLite, as its own installer
 * would: then it is listed in the settings, and can be removed there.
 *
 * @param rest signed in
 */
export async function registerPackage(
	rest: Rest,
	{ name, version }: InstalledPackage,
	installation: Installation,
	userFolder: string,
): Promise<void> {
	const types = await rest.nodeTypes();
	const nodes = types.filter((type) => isOf(name, type)).map(entry);
	const script = join(__dirname, 'register.mjs');
	const database = join(userFolder, '.n8n', 'database.sqlite');
	const row = JSON.stringify({ name, version, nodes });
	await promisify(execFile)(installation.node, ['--no-warnings', script, database, row]);
}

/** n8n makes a second type of each node, for agents. */
function isOf(packageName: string, { name }: NodeTypeEntry): boolean {
	return name.startsWith(`${packageName}.`) && !name.endsWith('Tool');
}

function entry({ name, displayName, version }: NodeTypeEntry) {
	return { name, displayName, version: Math.max(...[version].flat()) };
}
