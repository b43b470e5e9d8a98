import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
