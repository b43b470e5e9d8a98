import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/**
 * The certificates in `tls/`, made with OpenSSL for these tests. They are valid until 2126. Their keys protect
 * nothing. `company` is signed by a made-up company's CA; `companyChain` names that CA too.
 */
const CERTIFICATES = {
	company: ['company'],
	companyChain: ['company', 'ca'],
	selfSigned: ['self-signed'],
};

export type Certificate = keyof typeof CERTIFICATES;

const read = (name: string) => readFileSync(join(__dirname, 'tls', `${name}.pem`), 'utf8');

/** An https server on this machine. */
export interface TlsServer {
	url: string;
	/** Number of connections so far. */
	readonly connections: number;
	/** Number of requests that arrived. */
	readonly requests: number;
	close(): Promise<void>;
}

/** Starts an https server with one of the certificates. Every request gets an empty JSON object. */
export async function startTlsServer(certificate: Certificate): Promise<TlsServer> {
	const counts = { connections: 0, requests: 0 };
	const cert = CERTIFICATES[certificate].map(read).join('\n');
	const server = createServer({ cert, key: read('key') }, (_, response) => {
		counts.requests++;
		response.end('{}');
	});
	server.on('connection', () => counts.connections++);
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
		get connections() {
			return counts.connections;
		},
		get requests() {
			return counts.requests;
		},
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
