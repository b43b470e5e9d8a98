/** How n8n is started, and its https address, with a program in place of n8n. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startN8n } from '../../tools/n8n/server';

let folder: string;

beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'server-test-'))));
afterEach(async () => await rm(folder, { recursive: true }));

/** Starts a program as n8n, which prints its environment and ends. Returns the message, and the process ids. */
async function endedN8n(env: Record<string, string>): Promise<{ message: string; pids: number[] }> {
	const n8n = join(folder, 'n8n.js');
	await writeFile(n8n, 'console.log(JSON.stringify(process.env, null, 1)); process.exitCode = 3;');
	const installation = { folder, node: process.execPath, n8n, version: '1' };
	const pids: number[] = [];
	const onSpawn = (pid: number) => void pids.push(pid);
	const logFile = join(folder, 'log');
	const message = await startN8n({ installation, userFolder: folder, logFile, env, onSpawn }).then(
		() => '',
		(error: Error) => error.message,
	);
	return { message, pids };
}

it("n8n gets no settings of the user's own n8n, and its process id is known before it is ready", async () => {
	const names = [
		'WEBHOOK_URL',
		'NODES_EXCLUDE',
		'NODE_FUNCTION_ALLOW_EXTERNAL',
		'GENERIC_TIMEZONE',
	];
	for (const name of names) process.env[name] = `own-${name}`;
	const { message, pids } = await endedN8n({ NODES_EXCLUDE: 'given' });
	for (const name of names) delete process.env[name];
	expect(message).toContain('n8n ended with code 3');
	expect(message).not.toContain('own-');
	expect(message).toContain('"NODES_EXCLUDE": "given"');
	expect(pids).toHaveLength(1);
});
