/** The decisions of `npm start` before it starts anything. test/e2e/start.test.ts tests the rest. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DataLock } from '../../tools/start/lock';
import { start } from '../../tools/start/start';
import { Trouble } from '../../tools/trouble';

/** Above every process id that Linux gives out by default. */
const nobody = 99_999_999;

let folder: string;

beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'start-test-'))));
afterEach(async () => await rm(folder, { recursive: true }));

const starting = async (options: object) =>
	await start(
		resolve(__dirname, '../..'),
		{ timeScale: 10, data: folder, ...options },
		() => undefined,
		new AbortController().signal,
	);

it("the data of the user's own n8n is neither used nor deleted", async () => {
	await mkdir(join(folder, '.n8n'));
	await expect(starting({ sandboxPort: 1, forget: true })).rejects.toThrow('your own n8n');
	expect(await readdir(folder)).toEqual(['.n8n']);
});

it('names the option for a taken port before anything is built or installed', async () => {
	const server = createServer();
	await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
	const { port } = server.address() as AddressInfo;
	const trouble = await starting({ port }).catch((error) => error);
	server.close();
	expect(trouble).toEqual(
		new Trouble(
			`Port ${port} is taken by another program. Choose another one, or leave --port out: then a free one is used.`,
		),
	);
});

it('the data is used by one n8n at a time, as long as one of its processes runs', async () => {
	const kept = join(folder, 'running.json');
	await writeFile(kept, JSON.stringify([nobody, process.ppid]));
	expect(() => new DataLock(folder)).toThrow(`(process ${process.ppid}, see ${folder}`);
	for (const left of [JSON.stringify([nobody]), '[12']) {
		await writeFile(kept, left);
		new DataLock(folder).release();
	}
});
