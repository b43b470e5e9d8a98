import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const root = resolve(__dirname, '../..');

/** How a program ended, and what it printed. */
interface Ended {
	code: number;
	said: string;
}

interface Options {
	cwd?: string;
	env?: Record<string, string>;
	/** Receives the process id and all of the output so far. */
	onOutput?: (pid: number, said: string) => void;
}

/** Runs Node.js until it ends, without proxy settings of this machine. */
export async function runNode(
	args: string[],
	{ cwd = root, env, onOutput }: Options = {},
): Promise<Ended> {
	const child = spawn(process.execPath, args, {
		cwd,
		env: { ...process.env, NO_PROXY: undefined, no_proxy: undefined, ...env },
		detached: true,
	});
	let said = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream.on('data', (chunk: Buffer) => {
			said += chunk.toString();
			onOutput?.(child.pid as number, said);
		});
	}
	return await new Promise((done) =>
		child.once('close', (code) => done({ code: code ?? -1, said })),
	);
}
