/** The tools for a real n8n, as far as they can be tested without one. test/e2e tests them with one. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning } from '../../tools/is-running';
import { installPackage } from '../../tools/n8n/community-package';
import { Executions } from '../../tools/n8n/executions';
import { freePorts, requirePort, usualPort } from '../../tools/n8n/ports';
import { Rest } from '../../tools/n8n/rest';
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

describe('the packed package', () => {
	it('is unpacked to the folder of n8n, like its own installer does', async () => {
		const packed = join(folder, 'package');
		await mkdir(packed);
		const name = 'n8n-nodes-media-generation';
		const manifest = { name, version: '1.2.3', n8n: {}, peerDependencies: {}, devDependencies: {} };
		await writeFile(join(packed, 'package.json'), JSON.stringify(manifest));
		const tarball = join(folder, 'packed.tgz');
		execFileSync('tar', ['-czf', tarball, '-C', folder, 'package']);

		await installPackage(tarball, folder);
		const nodes = join(folder, '.n8n', 'nodes');
		const read = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as unknown;
		expect(await read(join(nodes, 'node_modules', name, 'package.json'))).toEqual({
			name,
			version: '1.2.3',
			n8n: {},
		});
		expect(await read(join(nodes, 'package.json'))).toMatchObject({
			dependencies: { [name]: '1.2.3' },
		});
	});
});

describe('the retry of an execution', () => {
	/** An n8n with execution 1, which is asked to retry it: then there are these too, by what they are a retry of. */
	function executionsWith(...begun: Array<string | null>): Executions {
		const all: Array<string | null> = [null];
		const rest = new Rest('http://n8n.invalid');
		jest.spyOn(rest, 'send').mockImplementation(async (method, path) => {
			if (method === 'POST') {
				all.push(...begun);
				throw new Error('n8n says no');
			}
			const id = /^\/executions\/(\d+)$/.exec(path)?.[1];
			if (id) return { id, workflowId: 'w', retryOf: all[Number(id) - 1], data: '[{}]' };
			return { results: all.map((_, index) => ({ id: String(index + 1) })).reverse() };
		});
		return new Executions(rest);
	}

	it('is the one that n8n started for it, not another new one', async () => {
		expect(await executionsWith('1').retry('1')).toBe('2');
		expect(await executionsWith('1', null).retry('1')).toBe('2');
	});

	it('is not an execution that something else started', async () => {
		await expect(executionsWith().retry('1')).rejects.toThrow('n8n says no');
		await expect(executionsWith(null).retry('1')).rejects.toThrow('n8n says no');
	});
});
