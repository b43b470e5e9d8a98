import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { usualPort } from '../n8n/ports';
import type { StartOptions } from './options';

type Ports = Pick<StartOptions, 'port' | 'sandboxPort' | 'storagePort'>;

/** Returns the ports of the service and of its storage: the given ones, or free ones that n8n does not need. */
export async function sandboxPorts({
	data,
	port: n8n,
	...given
}: Ports & Pick<StartOptions, 'data'>): Promise<{ port: number; storagePort: number }> {
	const port =
		given.sandboxPort ?? (await usualPort(lastSandboxPort(data), [n8n, given.storagePort]));
	return { port, storagePort: given.storagePort ?? (await usualPort(8788, [n8n, port])) };
}

/** A file of the data folder. n8n keeps the examples, which contain the sandbox's address. */
const portFile = 'sandbox-port.json';

/** Returns the port that the sandbox had at the last start, and otherwise the usual one. */
export function lastSandboxPort(data: string): number {
	try {
		const port = Number(readFileSync(join(data, portFile), 'utf8'));
		if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
	} catch {
		// It is the first start.
	}
	return 8787;
}

/** Keeps the port of the sandbox for the next start. */
export function keepSandboxPort(data: string, url: string): void {
	writeFileSync(join(data, portFile), new URL(url).port);
}
