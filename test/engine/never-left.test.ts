import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

import { openStage, prompts } from './stage';

/** Requests that fail before they can be sent, in the order of the stages: nothing can have been charged. */

const stage = openStage();
const open: Server[] = [];

afterEach(() => {
	delete process.env.HTTPS_PROXY;
	for (const server of open.splice(0)) server.close();
});

async function portOf(server: Server): Promise<number> {
	open.push(server);
	await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
	return (server.address() as AddressInfo).port;
}

/** Sends data to the first client, and closes the connection. */
function answering(words: Buffer | string): Server {
	return createServer((socket: Socket) => {
		socket.on('error', () => undefined);
		socket.once('data', () => socket.end(words));
	});
}

async function expectNotCharged(baseUrl: string, said: RegExp): Promise<void> {
	const run = await stage.run(
		'imageGeneration',
		{ runOptions: { timeout: 1 } },
		{ items: prompts('a boat'), credential: { baseUrl } },
	);
	expect(run.error).toMatchObject({
		message: expect.stringMatching(said),
		description: expect.stringContaining('Nothing was charged'),
		context: { code: 'connection_failed' },
	});
}

/** A TLS alert: fatal, and of this kind (RFC 8446, 6). */
const alert = (kind: number) => Buffer.from([0x15, 3, 3, 0, 2, 2, kind]);

it.each<[string, () => Server, RegExp]>([
	['speaks http', () => answering('HTTP/1.1 400 Bad Request\r\n\r\n'), /does not use https/],
	['closes before TLS', () => answering(''), /the connection closed while it was being made/],
	['knows no such name', () => answering(alert(112)), /or the host name/],
	[
		'speaks an old TLS only',
		() =>
			createTlsServer({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }),
		/rejected the TLS version/,
	],
])('a server that %s receives no request', async (_, serverOf, said) => {
	await expectNotCharged(`https://127.0.0.1:${await portOf(serverOf())}`, said);
});

it('a proxy that disconnects receives no request', async () => {
	process.env.HTTPS_PROXY = `http://127.0.0.1:${await portOf(answering(''))}`;
	await expectNotCharged(
		'https://service.example',
		/the connection closed while it was being made/,
	);
});
