import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { Trouble, throwIfStopped } from '../trouble';

const windows = process.platform === 'win32';

/**
 * Builds `dist`, as `npm run build` does.
 * Throws `Trouble` with what the build said where it fails, and `Stopped` after a stop.
 */
export async function buildNodes(root: string, signal: AbortSignal): Promise<void> {
	throwIfStopped(signal);
	const command = join(root, 'node_modules', 'gulp', 'bin', 'gulp.js');
	const gulp = spawn(process.execPath, [command, 'build'], {
		cwd: root,
		stdio: ['ignore', 'pipe', 'pipe'],
		// A group of its own, so that a stop ends the compiler below it too.
		detached: !windows,
	});
	const stop = () => endGroup(gulp);
	signal.addEventListener('abort', stop);
	const { code, said } = await ended(gulp);
	signal.removeEventListener('abort', stop);
	throwIfStopped(signal);
	if (code !== 0) throw new Trouble(`The nodes could not be built.\n\n${said.trim()}`);
}

function endGroup({ pid }: ChildProcess): void {
	if (pid === undefined) return;
	try {
		process.kill(windows ? pid : -pid);
	} catch {
		// It has ended by itself in the meantime.
	}
}

async function ended(child: ChildProcess): Promise<{ code: number | null; said: string }> {
	let said = '';
	const listen = (chunk: Buffer) => (said += chunk.toString());
	child.stdout?.on('data', listen);
	child.stderr?.on('data', listen);
	return await new Promise((resolve, reject) => {
		child.once('error', reject);
		child.once('close', (code) => resolve({ code, said }));
	});
}
