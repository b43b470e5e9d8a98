import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';

// Not get-port: Jest cannot load it, as an ES module, and it does not say why a port cannot be had.

/** Rejects with the system's error where a port of this machine cannot be listened at. */
export async function requirePort(port: number): Promise<void> {
	await close(await listenAt(port, '127.0.0.1'));
	try {
		// `localhost` may be that of IPv6, where another program may listen; a machine may be without it.
		await close(await listenAt(port, '::'));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw error;
	}
}

/** The port that people expect, or a free one where it is taken. */
export async function usualPort(port: number): Promise<number> {
	try {
		await requirePort(port);
		return port;
	} catch {
		return (await freePorts(1))[0];
	}
}

/** Returns different free ports. */
export async function freePorts(count: number): Promise<number[]> {
	const servers = await Promise.all(
		Array.from({ length: count }, async () => await listenAt(0, '127.0.0.1')),
	);
	const ports = servers.map((server) => (server.address() as AddressInfo).port);
	await Promise.all(servers.map(close));
	return ports;
}

async function listenAt(port: number, address: string): Promise<Server> {
	const server = createServer().listen(port, address);
	await once(server, 'listening');
	return server;
}

async function close(server: Server): Promise<void> {
	await once(server.close(), 'close');
}
