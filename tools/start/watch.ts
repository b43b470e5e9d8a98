import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { installedFolder } from '../n8n/community-package';

/** Makes n8n reload nodes whose files have changed. */
export const reloading = { N8N_DEV_RELOAD: 'true' };

/**
 * Compiles the nodes into the package that n8n has loaded, now and whenever a source file changes. Prints errors.
 * Icons and output schemas need a restart.
 *
 * @returns a function that ends it
 */
export function watchNodes(root: string, data: string): () => Promise<void> {
	const tsc = require.resolve('typescript/bin/tsc');
	const args = ['--watch', '--preserveWatchOutput', '--outDir', `${installedFolder(data)}/dist`];
	const compiler = spawn(process.execPath, [tsc, ...args], {
		cwd: root,
		stdio: ['ignore', 'inherit', 'inherit'],
	});
	const ended = once(compiler, 'close');
	return async () => {
		compiler.kill();
		await ended;
	};
}
