import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const root = resolve(__dirname, '../..');

/** Runs Node.js until it ends, and returns its exit code and what it printed. */
export async function runNode(args: string[], cwd = root): Promise<{ code: number; said: string }> {
	const child = spawn(process.execPath, args, { cwd });
	let said = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
	}
	return await new Promise((done) =>
		child.once('close', (code) => done({ code: code ?? -1, said })),
	);
}
