import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Trouble } from '../trouble';

/** A release of n8n: the current one, or one of the older ones that the nodes also support. */
export type Release = 'current' | 'last-1' | 'first-2' | 'first-tables';

/** A real n8n, installed in the user's cache. */
export interface Installation {
	folder: string;
	/** The Node.js that it runs on. */
	node: string;
	/** Its command, a JavaScript file. */
	n8n: string;
	version: string;
}

/**
 * Returns the n8n of a folder in `releases/`, and installs it first if it is missing. Prints progress to stderr. Throws
 * `Trouble` if it cannot be installed, with the reason on stderr.
 *
 * @param signal aborts a running installation. Its incomplete files are never used.
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
	if (code !== 0) throw new Trouble('n8n could not be installed: see the message above.');
	return JSON.parse(said) as Installation;
}
