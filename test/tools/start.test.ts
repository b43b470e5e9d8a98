/** What `npm start` decides before anything is started. The rest runs in test/e2e/start.test.ts. */
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readExamples } from '../../tools/start/examples';
import { isBuilt } from '../../tools/start/freshness';
import { DataLock } from '../../tools/start/lock';
import { commandLine } from '../../tools/start/options';

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

	it('are the usual ports, and data of its own', () => {
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
	])('refuse %j', (args, message) => {
		expect(() => read(args)).toThrow(message);
	});
});

describe('the data', () => {
	it('belongs to one n8n at a time', () => {
		const lock = new DataLock(folder);
		expect(() => new DataLock(folder)).toThrow(`(process ${process.pid})`);
		lock.release();
		new DataLock(folder).release();
	});

	it('is free again when the processes that used it are gone', async () => {
		await writeFile(join(folder, 'running.json'), JSON.stringify([nobody]));
		new DataLock(folder).release();
		await writeFile(join(folder, 'running.json'), '[12');
		new DataLock(folder).release();
	});

	it('is taken for as long as n8n itself runs, also without us', async () => {
		await writeFile(join(folder, 'running.json'), JSON.stringify([nobody, process.pid]));
		expect(() => new DataLock(folder)).toThrow('already runs');
	});
});

describe('the examples', () => {
	const examples = resolve(__dirname, '../../examples');

	it('lead to the sandbox, and the one that is about sleeping takes long enough to sleep', async () => {
		const read = await readExamples(examples, { baseUrl: 'http://127.0.0.1:8787', timeScale: 10 });
		const sleeper = read.find(({ name }) => name === 'Submit Now, Collect Later');
		const prompts = JSON.stringify(sleeper).match(/\[seconds: 1000\]/g);
		expect(prompts).toHaveLength(3);
		expect(JSON.stringify(read.filter((file) => file !== sleeper))).not.toContain('[seconds:');
		expect(JSON.stringify(read)).not.toContain('api.example.com');
	});
});

describe('a build', () => {
	const built = join('dist', 'nodes', 'A.node.js');
	const source = join('nodes', 'A.node.ts');

	async function write(file: string, age: number): Promise<void> {
		const path = join(folder, file);
		await mkdir(resolve(path, '..'), { recursive: true });
		await writeFile(path, '');
		const time = Date.now() / 1000 - age;
		await utimes(path, time, time);
		await utimes(resolve(path, '..'), time, time);
	}

	beforeEach(async () => {
		const old = ['client/a.ts', 'credentials/a.ts', 'icons/a.svg', 'gulpfile.js', 'tsconfig.json'];
		for (const file of [source, ...old]) await write(file, 1000);
		const n8n = { nodes: [built], credentials: [] };
		await writeFile(join(folder, 'package.json'), JSON.stringify({ n8n }));
		await utimes(join(folder, 'package.json'), 0, 0);
	});

	it('is used again while it is newer than every source', async () => {
		expect(await isBuilt(folder)).toBe(false);
		await write(built, 500);
		expect(await isBuilt(folder)).toBe(true);
		await write(source, 100);
		expect(await isBuilt(folder)).toBe(false);
	});

	it('is made again after a source was removed', async () => {
		await write(join('nodes', 'B.node.ts'), 1000);
		await write(built, 500);
		expect(await isBuilt(folder)).toBe(true);
		await rm(join(folder, 'nodes', 'B.node.ts'));
		expect(await isBuilt(folder)).toBe(false);
	});
});
