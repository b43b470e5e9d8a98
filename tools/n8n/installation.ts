import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** Which n8n: the one that is developed against, or one of those that the nodes have to run on as well. */
export type Release = 'current' | 'last-1' | 'first-2' | 'first-tables';

/** The real n8n, installed in the user's cache. */
export interface Installation {
	folder: string;
	/** The Node.js that it runs on. */
	node: string;
	/** Its command, a JavaScript file. */
	n8n: string;
	version: string;
}

/**
 * Gives the n8n that the folder in `releases/` names, installing it first where it is missing. Progress is shown
 * on stderr. Throws when it cannot be installed; why is on stderr then.
 *
 * @param signal ends an installation under way, which then leaves nothing that is ever used
 */
export async function ensureInstalled(
	release: Release,
	signal?: AbortSignal,
): Promise<Installation> {
	const script = join(__dirname, 'releases', 'install.mjs');
	const installer = spawn(process.execPath, [script, release], {
		stdio: ['ignore', 'pipe', 'inherit'],
		signal,
	});
	let said = '';
	installer.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
	const code = await new Promise<number | null>((resolve, reject) => {
		installer.once('error', reject);
		installer.once('close', resolve);
	});
	if (code !== 0) throw new Error('n8n is not installed.');
	return JSON.parse(said) as Installation;
}
