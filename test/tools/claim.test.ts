/** Which folders `npm start` uses, and deletes from with `--forget`. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start } from '../../tools/start/start';
import { claimFolder } from '../../tools/start/claim';
import { keepSandboxPort, lastSandboxPort } from '../../tools/start/sandbox-port';

let folder: string;
const said: string[] = [];
const say = (line: string) => void said.push(line);

beforeEach(async () => {
	said.length = 0;
	folder = await mkdtemp(join(tmpdir(), 'claim-test-'));
});
afterEach(async () => await rm(folder, { recursive: true }));

it("the data of the user's own n8n is neither used nor deleted", async () => {
	await mkdir(join(folder, '.n8n'));
	const options = { sandboxPort: 1, timeScale: 10, data: folder, forget: true };
	const { signal } = new AbortController();
	await expect(start(folder, options, say, signal)).rejects.toThrow('your own n8n');
	expect(await readdir(folder)).toEqual(['.n8n']);
});

it('a new folder is used again, with what npm start has put into it', async () => {
	const data = join(folder, 'new');
	claimFolder(data, say);
	await mkdir(join(data, '.n8n'));
	claimFolder(data, say);
	expect(said).toEqual([]);
});

it('the sandbox has the port of the last start again, which the examples in n8n contain', async () => {
	expect(lastSandboxPort(folder)).toBe(8787);
	keepSandboxPort(folder, 'http://127.0.0.1:20123');
	expect(lastSandboxPort(folder)).toBe(20123);
	await writeFile(join(folder, 'sandbox-port.json'), 'x');
	expect(lastSandboxPort(folder)).toBe(8787);
});
