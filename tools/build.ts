/** Checks whether `dist` is up to date, and builds it. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Trouble, throwIfStopped } from './trouble';

/** The sources of `dist`. */
const sources = [
	'client',
	'credentials',
	'nodes',
	'icons',
	'tools/output-schema.ts',
	'tools/asset-rules.mjs',
	'gulpfile.js',
	'package.json',
	'tsconfig.json',
];

const windows = process.platform === 'win32';

/** Returns true if `dist` has every file that the manifest names, and all are newer than every source. */
export async function isBuilt(root: string): Promise<boolean> {
	const { n8n } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
		n8n: { nodes: string[]; credentials: string[] };
	};
	const built = [...n8n.nodes, ...n8n.credentials].map((file) => join(root, file));
	try {
		const times = await Promise.all(built.map(async (file) => (await stat(file)).mtimeMs));
		return Math.min(...times) > (await newest(sources.map((name) => join(root, name))));
	} catch {
		return false;
	}
}

/**
 * Builds `dist`, as `npm run build` does.
 * Throws `Trouble` with the output of the build if it fails, and `Stopped` after a stop.
 */
export async function buildNodes(root: string, signal: AbortSignal): Promise<void> {
	throwIfStopped(signal);
	const command = join(root, 'node_modules', 'gulp', 'bin', 'gulp.js');
	const gulp = spawn(process.execPath, [command, 'build'], {
		cwd: root,
		stdio: ['ignore', 'pipe', 'pipe'],
		// A separate process group, so that a stop also ends the compiler that gulp starts.
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
		// It has already ended.
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

async function newest(paths: string[]): Promise<number> {
	const times = paths.map(async (path) => {
		const stats = await stat(path);
		if (!stats.isDirectory()) return stats.mtimeMs;
		const names = await readdir(path);
		// If a file was deleted, only the folder's time changes.
		return Math.max(stats.mtimeMs, await newest(names.map((name) => join(path, name))));
	});
	return Math.max(0, ...(await Promise.all(times)));
}
