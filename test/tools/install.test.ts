/** What each command does first: it installs the dependencies if they are missing. */
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const tools = resolve(__dirname, '../../tools');

let folder: string;

beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'install-test-'));
	await mkdir(join(folder, 'tools'));
	for (const file of ['install.mjs', 'no-proxy.cjs']) {
		await cp(join(tools, file), join(folder, 'tools', file));
	}
	await writeFile(join(folder, '.npmrc'), 'install-links=true\n');
});
afterEach(async () => await rm(folder, { recursive: true }));

/** Runs Node.js until it ends, and returns its exit code and what it printed. */
function install(...args: string[]) {
	const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder });
	return { code: status, said: `${stdout}${stderr}` };
}

/** Writes the manifest and the lock file of a folder of the repository. Its only dependency is a folder: it needs no registry. */
async function depend(name: string, version: string): Promise<void> {
	const write = async (file: string, content: object) =>
		await writeFile(join(folder, file), JSON.stringify(content));
	const own = { name: 'x', engines: { node: '>=20' }, dependencies: { [name]: `file:${name}` } };
	await mkdir(join(folder, name), { recursive: true });
	await write(join(name, 'package.json'), { name, version });
	await write('package.json', own);
	const packages = { '': own, [`node_modules/${name}`]: { resolved: `file:${name}`, version } };
	await write('package-lock.json', { name: 'x', lockfileVersion: 3, packages });
}

const manifestOf = (name: string) => join(folder, 'node_modules', name, 'package.json');

it('the dependencies are installed when they are missing or have changed, and only then', async () => {
	await depend('one', '1.0.0');
	const first = install('tools/install.mjs');
	expect(first).toMatchObject({ code: 0, said: expect.stringContaining('Installing') });
	expect(install('tools/install.mjs')).toEqual({ code: 0, said: '' });
	await depend('one', '2.0.0');
	install('tools/install.mjs');
	expect(await readFile(manifestOf('one'), 'utf8')).toContain('2.0.0');
	await writeFile(join(folder, 'package-lock.json'), '{ "packages": { "node_modules/y": {} } }');
	const broken = install('tools/install.mjs');
	expect(broken.said).toContain('could not be installed');
	expect(broken.code).toBe(1);
});

it.each([
	['18.20.0', 1],
	['20.18.3', 1],
	['22.12.0', 1],
	['20.19.0', 0],
	['22.13.0', 0],
	['24.0.0', 0],
])('Node.js %s ends with code %i', async (version, code) => {
	await writeFile(join(folder, 'package-lock.json'), '{ "packages": {} }');
	await mkdir(join(folder, 'node_modules'));
	await writeFile(join(folder, 'node_modules/.package-lock.json'), '{ "packages": {} }');
	const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
	await writeFile(join(folder, 'older.cjs'), older);
	const ended = install('--require', './older.cjs', 'tools/install.mjs');
	expect(ended.code).toBe(code);
	expect(ended.said.includes(`You are using ${version}.`)).toBe(code === 1);
});
