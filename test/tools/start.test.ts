/** The decisions of `npm start` before it starts anything. test/e2e/start.test.ts tests the rest. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataLock } from '../../tools/start/lock';
import { start } from '../../tools/start/start';

/** Above every process id that Linux gives out by default. */
const nobody = 99_999_999;

let folder: string;

beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'start-test-'))));
afterEach(async () => await rm(folder, { recursive: true }));

it("the data of the user's own n8n is neither used nor deleted", async () => {
	await mkdir(join(folder, '.n8n'));
	const options = { sandboxPort: 1, timeScale: 10, data: folder, forget: true };
	const { signal } = new AbortController();
	const starting = start(folder, options, () => undefined, signal);
	await expect(starting).rejects.toThrow('your own n8n');
	expect(await readdir(folder)).toEqual(['.n8n']);
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
