/** The decisions of `npm start` before it starts anything. test/e2e/start.test.ts tests the rest. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readExamples } from '../../tools/start/examples';
import { DataLock } from '../../tools/start/lock';
import { commandLine } from '../../tools/start/options';
import { keepSandboxPort, sandboxPorts } from '../../tools/start/sandbox-port';
import { start } from '../../tools/start/start';
import { Trouble } from '../../tools/trouble';

/** Above every process id that Linux gives out by default. */
const nobody = 99_999_999;

let folder: string;

beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'start-test-'))));
afterEach(async () => await rm(folder, { recursive: true }));

describe('the options', () => {
	const read = (args: string[]) =>
		commandLine(folder)
			.exitOverride()
			.configureOutput({ writeErr: () => undefined })
			.parse(args, { from: 'user' })
			.opts();

	it('default to the usual ports and a separate data folder', () => {
		expect(read([])).toEqual({ timeScale: 10, data: join(folder, 'output', 'n8n') });
		const given = ['--port', '5000', '--sandbox-port', '5001', '--data', '../elsewhere'];
		expect(read(given)).toMatchObject({
			port: 5000,
			sandboxPort: 5001,
			data: resolve(folder, '../elsewhere'),
		});
	});

	it.each([
		[['--port', '0'], "'0' is invalid. It must be a whole number from 1 to 65535."],
		[['--sandbox-port', '70000'], "'70000' is invalid. It must be a whole number from 1 to 65535."],
		[['--storage-port', 'x'], "'x' is invalid. It must be a whole number from 1 to 65535."],
		[['--time-scale', '0'], "'0' is invalid. It must be a number above 0."],
		[['--prot', '1'], "unknown option '--prot'"],
	])('reject %j', (args, message) => {
		expect(() => read(args)).toThrow(message);
	});
});

it.each([
	['sandboxPort', '--sandbox-port and --storage-port'],
	['port', '--port'],
])(
	'names the options for a taken %s before anything is built or installed',
	async (option, named) => {
		const server = createServer();
		await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
		const { port } = server.address() as AddressInfo;
		const options = { [option]: port, timeScale: 10, data: folder };
		const { signal } = new AbortController();
		const root = resolve(__dirname, '../..');
		const trouble = await start(root, options, () => undefined, signal).catch((error) => error);
		server.close();
		expect(trouble).toEqual(
			new Trouble(
				`Port ${port} is taken by another program. Choose another one, or leave ${named} out: then a ` +
					'free one is used.',
			),
		);
	},
);

describe('the ports of the sandbox', () => {
	const data = () => ({ data: folder, timeScale: 10 });
	const differ = (...ports: number[]) => expect(new Set(ports).size).toBe(ports.length);

	it.each([8787, 8788])('are not the port of n8n: %d', async (port) => {
		const chosen = await sandboxPorts({ ...data(), port });
		differ(port, chosen.port, chosen.storagePort);
	});

	it('differ from each other if one of them is given', async () => {
		const withStorage = await sandboxPorts({ ...data(), storagePort: 8787 });
		differ(withStorage.port, withStorage.storagePort);
		const withService = await sandboxPorts({ ...data(), sandboxPort: 8788 });
		differ(withService.port, withService.storagePort);
		keepSandboxPort(folder, 'http://127.0.0.1:8788');
		const kept = await sandboxPorts(data());
		differ(kept.port, kept.storagePort);
	});

	it.each([
		[{ port: 5000, sandboxPort: 5000 }, '--port and --sandbox-port'],
		[{ port: 5000, storagePort: 5000 }, '--port and --storage-port'],
		[{ sandboxPort: 5000, storagePort: 5000 }, '--sandbox-port and --storage-port'],
	])('must differ before anything is deleted or started: %j', async (ports, named) => {
		const { signal } = new AbortController();
		const starting = start(folder, { ...data(), ...ports, forget: true }, () => undefined, signal);
		await expect(starting).rejects.toEqual(
			new Trouble(`${named} are both 5000. Choose different ports.`),
		);
		expect(await readdir(folder)).toEqual([]);
	});
});

describe('the data', () => {
	it('is used by one n8n at a time', async () => {
		await writeFile(join(folder, 'running.json'), JSON.stringify([process.ppid]));
		expect(() => new DataLock(folder)).toThrow(`(process ${process.ppid}, see ${folder}`);
	});

	it('is free again when the processes that used it are gone', async () => {
		await writeFile(join(folder, 'running.json'), JSON.stringify([nobody]));
		new DataLock(folder).release();
		await writeFile(join(folder, 'running.json'), '[12');
		new DataLock(folder).release();
	});

	it('is locked as long as n8n runs, even without the process that started it', async () => {
		await writeFile(join(folder, 'running.json'), JSON.stringify([nobody, process.ppid]));
		expect(() => new DataLock(folder)).toThrow('already runs');
	});
});

describe('the examples', () => {
	const examples = resolve(__dirname, '../../examples');

	it('use the sandbox, and the one about sleeping takes long enough to sleep', async () => {
		const read = await readExamples(examples, { baseUrl: 'http://127.0.0.1:8787', timeScale: 10 });
		const sleeper = read.find(({ name }) => name === 'Submit Now, Collect Later');
		const prompts = JSON.stringify(sleeper).match(/\[seconds: 1000\]/g);
		expect(prompts).toHaveLength(3);
		expect(JSON.stringify(read.filter((file) => file !== sleeper))).not.toContain('[seconds:');
		expect(JSON.stringify(read)).not.toContain('api.example.com');
	});
});
