import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

const host = '127.0.0.1';

/** Rejects with the system's error where a port of this machine cannot be listened at. */
export async function requirePort(port: number): Promise<void> {
	const server = createServer();
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(port, host, () => server.close(() => resolve()));
	});
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

/** So many ports that nobody listens at now. */
export async function freePorts(count: number): Promise<number[]> {
	const servers = Array.from({ length: count }, () => createServer());
	const ports = await Promise.all(
		servers.map(
			async (server) =>
				await new Promise<number>((resolve, reject) => {
					server.once('error', reject);
					server.listen(0, host, () => resolve((server.address() as AddressInfo).port));
				}),
		),
	);
	await Promise.all(
		servers.map(async (server) => await new Promise((resolve) => server.close(resolve))),
	);
	return ports;
}
