/** Checks the packed package. `npm run build` also runs the scan that n8n runs before it verifies a package. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { outputFolder, surroundings } from './support/surroundings';

const run = promisify(execFile);
const folder = join(outputFolder('scan'), 'package');

beforeAll(async () => {
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	await run('tar', ['-xzf', surroundings().tarball, '-C', folder, '--strip-components=1']);
});

it('has no dependencies', async () => {
	const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as object;
	expect(Object.keys(manifest)).not.toContain('dependencies');
	expect(manifest).toMatchObject({ peerDependencies: { 'n8n-workflow': '*' }, license: 'MIT' });
});
