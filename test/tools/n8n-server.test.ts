/** How n8n is started, and its https address, with a program in place of n8n. */
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { openLog } from '../../tools/open-log';
import { startN8n } from '../../tools/n8n/server';
import { proxyCertificate, startTlsProxy } from '../../tools/n8n/tls-proxy';
import type { TlsProxy } from '../../tools/n8n/tls-proxy';

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

it('a log that cannot be written does not end the process', async () => {
	const log = openLog(folder);
	await new Promise<void>((resolve) => log.once('close', () => resolve()));
	log.write('more');
});

describe('the https address', () => {
	let proxy: TlsProxy;
	const received: string[] = [];
	const target = createServer((incoming, outgoing) => {
		received.push(String(incoming.url));
		if (incoming.url !== '/broken') outgoing.end('ok');
		else outgoing.write('half', () => outgoing.destroy());
	});

	beforeAll(async () => {
		await new Promise<void>((done) => target.listen(0, '127.0.0.1', done));
		proxy = await startTlsProxy();
		proxy.passTo(`http://127.0.0.1:${(target.address() as AddressInfo).port}`);
	});
	afterAll(async () => {
		await proxy.close();
		target.close();
	});

	/** Sends a request line as it is, and returns the response. */
	async function send(path: string): Promise<string> {
		const port = Number(new URL(proxy.url).port);
		const socket = connect({
			port,
			host: '127.0.0.1',
			servername: 'localhost',
			ca: proxyCertificate,
		});
		socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
		let said = '';
		for await (const chunk of socket) said += String(chunk);
		return said;
	}

	it.each(['//', 'http://other.invalid/path'])('passes the path %s to n8n only', async (path) => {
		expect(await send(path)).toMatch(/^HTTP\/1.1 200 /);
		expect(received.at(-1)).toBe(path);
	});

	it('ends a response that n8n does not finish', async () => {
		const ended = new Promise((resolve) => {
			const asked = request(`${proxy.url}broken`, { ca: proxyCertificate }, (response) => {
				response.resume().on('error', resolve);
			});
			asked.end();
		});
		expect(await ended).toMatchObject({ code: 'ECONNRESET' });
	});

	it('has a certificate that can sign no others', () => {
		expect(new X509Certificate(proxyCertificate)).toMatchObject({ ca: false });
	});
});
