import { spawn } from 'node:child_process';
import { dirname, delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { passSignalsTo } from './signals.mjs';

/** The folder of this package. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const windows = process.platform === 'win32';

/** Returns proxy settings that exclude this machine. */
function direct() {
	const stated = process.env.NO_PROXY ?? process.env.no_proxy;
	const hosts = [stated, '127.0.0.1', 'localhost'].filter(Boolean).join(',');
	return { NO_PROXY: hosts, no_proxy: hosts };
}

function environment(extra) {
	const bin = join(root, 'node_modules', '.bin');
	const path = process.env.PATH ?? process.env.Path ?? '';
	return { ...process.env, ...direct(), PATH: `${bin}${delimiter}${path}`, ...extra };
}

/**
 * Runs a command of this machine or of `node_modules/.bin`, in the package's folder.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string>, output?: 'show' | 'tee' | 'hide', signal?: AbortSignal }} [options]
 *   `cwd` is a different working folder. `show` passes the terminal on, `tee` shows and keeps the output, and `hide`
 *   only keeps it. `signal` ends the command.
 * @returns {Promise<{ code: number, stdout: string, stderr: string }>}
 */
export function run(command, args, { cwd = root, env = {}, output = 'show', signal } = {}) {
	return new Promise((resolve) => {
		const child = spawn(command, args, {
			cwd,
			env: environment(env),
			signal,
			stdio: output === 'show' ? 'inherit' : ['ignore', 'pipe', 'pipe'],
			// On Windows, the commands in node_modules/.bin are .cmd files, which only a shell can start.
			shell: windows && command !== process.execPath,
		});
		const endLikewise = passSignalsTo(child);
		const kept = { stdout: '', stderr: '' };
		for (const name of ['stdout', 'stderr']) {
			child[name]?.on('data', (chunk) => {
				kept[name] += chunk;
				if (output === 'tee') process[name].write(chunk);
			});
		}
		child.on('error', (error) => resolve({ code: 127, ...kept, stderr: error.message }));
		child.on('close', (code) => {
			// After a signal this process ends as well, so the result is not used.
			if (!endLikewise()) resolve({ code: code ?? 1, ...kept });
		});
	});
}

/**
 * Runs npm. If npm started this process, uses the same npm with its version and settings.
 *
 * @param {string[]} args
 * @param {Parameters<typeof run>[2]} [options]
 */
export function runNpm(args, options) {
	const npm = process.env.npm_execpath;
	return npm?.endsWith('.js') || npm?.endsWith('.cjs')
		? run(process.execPath, [npm, ...args], options)
		: run('npm', args, options);
}

/**
 * @param {number} milliseconds
 * @returns {string} a duration such as `4.2 s`
 */
export function seconds(milliseconds) {
	return `${(milliseconds / 1000).toFixed(1)} s`;
}
