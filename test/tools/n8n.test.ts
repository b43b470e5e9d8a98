/** The tools for a real n8n, as far as they can be tested without one. test/e2e tests them with one. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning } from '../../tools/is-running';
import { freePorts, requirePort, usualPort } from '../../tools/n8n/ports';
import { Service } from '../../tools/n8n/service';

let folder: string;

beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'n8n-test-'))));
afterEach(async () => await rm(folder, { recursive: true }));

async function start(program: string): Promise<Service> {
	return await Service.start({
		name: 'It',
		command: process.execPath,
		args: ['-e', program],
		env: process.env,
		logFile: join(folder, 'logs', 'it.log'),
	});
}

describe('a service', () => {
	const forever = 'setInterval(() => {}, 1000);';

	it('is awaited, ends when it is asked to, and keeps its log', async () => {
		const service = await start(`console.log('ready'); ${forever}`);
		await service.until(() => service.output.includes('ready'), 300_000);
		await service.stop();
		expect(service.exit).toBe('SIGTERM');
		expect(await readFile(join(folder, 'logs', 'it.log'), 'utf8')).toBe('ready\n');
	});

	it('ends with all its child processes, even if it ignores the signal', async () => {
		const child = `require('node:child_process').spawn(process.execPath, ['-e', '${forever}'])`;
		// Ignores SIGTERM before it prints anything, because it is stopped right after its first output.
		const deaf = `process.on('SIGTERM', () => {}); ${forever}`;
		const service = await start(`${deaf} console.log('child ' + ${child}.pid);`);
		await service.until(() => service.output.includes('child'), 300_000);
		const pid = Number(/child (\d+)/.exec(service.output)?.[1]);
		expect(isRunning(pid)).toBe(true);
		await service.stop(200);
		expect(service.exit).toBe('SIGKILL');
		while (isRunning(pid)) await delay(50);
	});

	it('reports how it ended if it never became ready', async () => {
		const service = await start("console.error('No room'); process.exit(3)");
		const waiting = service.until(() => false, 300_000);
		await expect(waiting).rejects.toThrow(/^It ended with code 3\.\n\nNo room$/);
		const slow = await start(forever);
		await expect(slow.until(() => false, 100)).rejects.toThrow('It was not ready after 0.1 s.');
		await slow.stop();
	});
});

describe('ports', () => {
	it('are the usual ones, or free ones if those are taken', async () => {
		const [free, other] = await freePorts(2);
		expect(other).not.toBe(free);
		expect(await usualPort(free)).toBe(free);
		expect(await usualPort(free, [undefined, free])).not.toBe(free);
		const server = createServer();
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const { port } = server.address() as AddressInfo;
		await expect(requirePort(port)).rejects.toMatchObject({ code: 'EADDRINUSE', port });
		expect(await usualPort(port)).not.toBe(port);
		await new Promise((resolve) => server.close(resolve));
	});

	const addresses = Object.values(networkInterfaces()).flat();
	const hasIPv6 = addresses.some((one) => one?.address === '::1');
	(hasIPv6 ? it : it.skip)('are taken where another program listens by IPv6 only', async () => {
		const server = createServer();
		await new Promise<void>((resolve) => server.listen(0, '::1', resolve));
		const { port } = server.address() as AddressInfo;
		expect(await usualPort(port)).not.toBe(port);
		await new Promise((resolve) => server.close(resolve));
	});
});
