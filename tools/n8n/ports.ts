import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server } from 'node:net';

// Not get-port: it is an ES module, which Jest cannot load, and it does not report why a port is unavailable.

/** Rejects with the system's error if it cannot listen on a port of this machine. */
export async function requirePort(port: number): Promise<void> {
	await close(await listenAt(port, '127.0.0.1'));
	try {
		// `localhost` may resolve to IPv6, where another program may listen. Some machines have no IPv6.
		await close(await listenAt(port, '::'));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw error;
	}
}

/**
 * Returns the usual port, or a free one if it is taken.
 *
 * @param others ports of servers that are not started yet
 */
export async function usualPort(
	port: number,
	others: ReadonlyArray<number | undefined> = [],
): Promise<number> {
	if (!others.includes(port) && (await isFree(port))) return port;
	return await usualPort((await freePorts(1))[0], others);
}

async function isFree(port: number): Promise<boolean> {
	return await requirePort(port).then(
		() => true,
		() => false,
	);
}

/**
 * Below the range from which systems take the ports of outgoing connections. From that range, a connection could take
 * a port before its server starts.
 */
const [FROM, TO] = [15_000, 32_000];
/** The number of ranges. Processes that start one after the other use different ranges. */
const RANGES = 68;
const RANGE = (TO - FROM) / RANGES;
const first = FROM + (process.pid % RANGES) * RANGE;
let next = randomInt(RANGE);

/**
 * Returns different free ports. A server may need many seconds until it listens on its port. Until then, the port is
 * free for the system, so this process and others that ask at the same time must get different ones.
 */
export async function freePorts(count: number): Promise<number[]> {
	const ports = new Set<number>();
	while (ports.size < count) {
		const port = first + next;
		next = (next + 1) % RANGE;
		if (await isFree(port)) ports.add(port);
	}
	return [...ports];
}

async function listenAt(port: number, address: string): Promise<Server> {
	const server = createServer().listen(port, address);
	await once(server, 'listening');
	return server;
}

async function close(server: Server): Promise<void> {
	await once(server.close(), 'close');
}
