/** Checks the packed package with the scan that n8n runs before it verifies a package. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { outputFolder, repository, surroundings } from './support/surroundings';

const run = promisify(execFile);
const folder = join(outputFolder('scan'), 'package');

beforeAll(async () => {
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	await run('tar', ['-xzf', surroundings().tarball, '-C', folder, '--strip-components=1']);
});

it("passes the lint of n8n's scan, packed and as source", async () => {
	const script = join(__dirname, 'support', 'scan.mjs');
	// n8n's rules also read NODE_ENV, and give other results in tests.
	const env = { ...process.env, NODE_ENV: undefined };
	const { stdout } = await run(process.execPath, [script, folder, repository], { env });
	expect(JSON.parse(stdout)).toEqual({ packed: null, source: null });
});

it('has no dependencies', async () => {
	const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as object;
	expect(Object.keys(manifest)).not.toContain('dependencies');
	expect(manifest).toMatchObject({ peerDependencies: { 'n8n-workflow': '*' }, license: 'MIT' });
});
