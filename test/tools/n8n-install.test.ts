/** The installer of n8n, without a network: npm is a program that pretends to download. */
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runNode } from './run-node';

const installer = resolve(__dirname, '../../tools/n8n/releases/install.mjs');

let folder: string;

beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'n8n-install-test-'))));
afterEach(async () => await rm(folder, { recursive: true }));

it('leaves nothing behind when it is stopped, and says before the download what is missing', async () => {
	const bin = join(folder, 'bin');
	const cache = join(folder, 'cache');
	await mkdir(bin);
	const npm = `#!${process.execPath}\nrequire('node:fs').mkdirSync('node_modules'); console.log(setInterval(() => {}, 1000));`;
	await writeFile(join(bin, 'npm'), npm);
	await chmod(join(bin, 'npm'), 0o755);
	let pressed = false;
	const { code, said } = await runNode([installer], {
		env: { PATH: bin, N8N_MEDIA_CACHE: cache },
		onOutput: (pid, text) => {
			if (pressed || !text.includes('Fetching')) return;
			pressed = true;
			setTimeout(() => process.kill(-pid, 'SIGINT'), 1000);
		},
	});
	expect(code).toBe(1);
	expect(await readdir(cache)).toEqual([]);
	expect(said).toMatch(/Warning: python3, make, g\+\+ not found[^]*Fetching/);
});

it('names the variable for another folder, and the error has no stack trace', async () => {
	await writeFile(join(folder, 'file'), '');
	const N8N_MEDIA_CACHE = join(folder, 'file', 'cache');
	const program = `const { ensureInstalled } = require('./tools/n8n/installation.ts');
		ensureInstalled('current').catch(({ constructor }) => console.log(constructor.name))`;
	const { said } = await runNode(['--require', 'tsx/cjs', '-e', program], {
		env: { N8N_MEDIA_CACHE },
	});
	expect(said).toContain('in the environment variable N8N_MEDIA_CACHE');
	expect(said.trim()).toMatch(/\nTrouble$/);
});
