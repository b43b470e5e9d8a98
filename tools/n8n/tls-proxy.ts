import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';

const read = (name: string) => readFileSync(join(__dirname, 'tls', `${name}.pem`), 'utf8');

/** The self-signed certificate of the proxy, made with OpenSSL, and valid until 2126. It is no CA. Only the sandbox trusts it. */
export const proxyCertificate = read('localhost');

/** A public https address for an n8n on this machine. */
export interface TlsProxy {
	/** Address with a slash at its end, as n8n's `WEBHOOK_URL`. */
	url: string;
	/** Sets the address that requests are passed to. Until then, they get a 502. */
	passTo(url: string): void;
	/** Paths that were requested, without their queries: those may be secrets. */
	readonly paths: string[];
	close(): Promise<void>;
}

/** Starts an https server on this machine that passes requests to n8n. */
export async function startTlsProxy(port = 0): Promise<TlsProxy> {
	let target: string | null = null;
	const paths: string[] = [];
	const server = createServer(
		{ cert: proxyCertificate, key: read('key') },
		(incoming, outgoing) => {
			const path = incoming.url ?? '/';
			paths.push(path.split('?')[0]);
			const fail = () => outgoing.headersSent || outgoing.writeHead(502).end();
			if (target === null) {
				fail();
				return;
			}
			const { method, headers } = incoming;
			const { hostname, port } = new URL(target);
			// The path is passed on unparsed: `//` is no URL, and an absolute one would name another host.
			const passed = request({ hostname, port, path, method, headers }, (answer) => {
				outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
				// If n8n ends in the middle of a response, this ends ours, too.
				pipeline(answer, outgoing, () => undefined);
			});
			passed.on('error', fail);
			outgoing.on('close', () => passed.destroy());
			incoming.pipe(passed);
		},
	);
	server.listen(port, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `https://localhost:${(server.address() as AddressInfo).port}/`,
		passTo: (url) => void (target = url),
		paths,
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
