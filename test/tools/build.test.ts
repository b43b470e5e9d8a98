import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isBuilt } from '../../tools/build';

let folder: string;

beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'build-test-'))));
afterEach(async () => await rm(folder, { recursive: true }));

describe('a build', () => {
	const built = join('dist', 'nodes', 'A.node.js');
	const source = join('nodes', 'A.node.ts');

	const checks = ['tools/output-schema.ts', 'tools/asset-rules.mjs'];

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
		for (const file of [source, ...old, ...checks]) await write(file, 1000);
		const n8n = { nodes: [built], credentials: [] };
		await writeFile(join(folder, 'package.json'), JSON.stringify({ n8n }));
		await utimes(join(folder, 'package.json'), 0, 0);
	});

	it('is reused while it is newer than every source', async () => {
		expect(await isBuilt(folder)).toBe(false);
		await write(built, 500);
		expect(await isBuilt(folder)).toBe(true);
		await write(source, 100);
		expect(await isBuilt(folder)).toBe(false);
	});

	it('is repeated after a source was removed', async () => {
		await write(join('nodes', 'B.node.ts'), 1000);
		await write(built, 500);
		expect(await isBuilt(folder)).toBe(true);
		await rm(join(folder, 'nodes', 'B.node.ts'));
		expect(await isBuilt(folder)).toBe(false);
	});
});
