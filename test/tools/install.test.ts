/** What each command does first: it installs the dependencies if they are missing. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runNode } from './run-node';

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

async function install(env: Record<string, string> = {}, args: string[] = []) {
	return await runNode([...args, 'tools/install.mjs'], { cwd: folder, env });
}

/** A package of the repository, which is a folder, and so needs no registry. */
interface Dependency {
	version: string;
	peerDependencies?: Record<string, string>;
	os?: string[];
	/** Fields of the lock file only. */
	lock?: { peer?: boolean; optional?: boolean };
}

/** Writes the manifest and the lock file of a folder of the repository, with these dependencies. */
async function depend(all: Record<string, Dependency>, inside = '.'): Promise<void> {
	const at = join(folder, inside);
	const packages: Record<string, object> = {};
	const manifest = { name: 'x', engines: { node: '>=20' } };
	const dependencies: Record<string, string> = {};
	const optionalDependencies: Record<string, string> = {};
	for (const [name, { lock = {}, ...fields }] of Object.entries(all)) {
		await mkdir(join(at, name), { recursive: true });
		await writeFile(join(at, name, 'package.json'), JSON.stringify({ name, ...fields }));
		packages[`node_modules/${name}`] = { resolved: `file:${name}`, ...fields, ...lock };
		if (lock.optional) optionalDependencies[name] = `file:${name}`;
		else if (!lock.peer) dependencies[name] = `file:${name}`;
	}
	const own = { ...manifest, dependencies, optionalDependencies };
	const locked = { name: 'x', lockfileVersion: 3, packages: { '': own, ...packages } };
	await writeFile(join(at, 'package.json'), JSON.stringify(own));
	await writeFile(join(at, 'package-lock.json'), JSON.stringify(locked));
}

const manifestOf = (name: string) => join(folder, 'node_modules', name, 'package.json');

it('the dependencies are installed when they are missing or have changed, and only then', async () => {
	await depend({ one: { version: '1.0.0' } });
	const first = await install();
	expect(first).toMatchObject({ code: 0, said: expect.stringContaining('Installing') });
	expect(await install()).toEqual({ code: 0, said: '' });
	await depend({ one: { version: '2.0.0' } });
	await install();
	expect(await readFile(manifestOf('one'), 'utf8')).toContain('2.0.0');
	await writeFile(join(folder, 'package-lock.json'), '{ "packages": { "node_modules/y": {} } }');
	const broken = await install();
	expect(broken.said).toContain('could not be installed');
	expect(broken.code).toBe(1);
});

it('the packages of tools/extras are installed and linked when they are asked for', async () => {
	await depend({ one: { version: '1.0.0' } });
	await depend({ two: { version: '1.0.0' } }, 'tools/extras');
	await writeFile(join(folder, 'tools/extras/.npmrc'), 'install-links=true\n');
	await install();
	await expect(readFile(manifestOf('two'))).rejects.toThrow('ENOENT');
	const extras = async () =>
		await runNode(['tools/install.mjs', '--extras'], { cwd: folder, env: {} });
	expect(await extras()).toMatchObject({ code: 0 });
	expect(await readFile(manifestOf('two'), 'utf8')).toContain('1.0.0');
	expect(await extras()).toEqual({ code: 0, said: '' });
	// `npm ci` in the root removes the link.
	await depend({ one: { version: '2.0.0' } });
	await install();
	await extras();
	expect(await readFile(manifestOf('two'), 'utf8')).toContain('1.0.0');
});

it('a child of a command that has checked the dependencies does not check them again', async () => {
	await depend({ one: { version: '1.0.0' } });
	await install();
	await depend({ one: { version: '2.0.0' } });
	const child =
		"require('node:child_process').execFileSync(process.execPath, ['tools/install.mjs'])";
	const program = `import('./tools/install.mjs').then(() => { require('node:fs').rmSync('node_modules', { recursive: true }); ${child} })`;
	const { code, said } = await runNode(['-e', program], { cwd: folder });
	expect(code).toBe(0);
	expect(said.match(/Installing/g)).toHaveLength(1);
});

it.each([
	['18.20.0', 1],
	['20.18.3', 1],
	['22.12.0', 1],
	['20.19.0', 0],
	['22.13.0', 0],
	['24.0.0', 0],
])('Node.js %s ends with code %i', async (version, code) => {
	await depend({});
	await mkdir(join(folder, 'node_modules'));
	await writeFile(join(folder, 'node_modules/.package-lock.json'), '{ "packages": {} }');
	const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
	await writeFile(join(folder, 'older.cjs'), older);
	const ended = await install({}, ['--require', './older.cjs']);
	expect(ended.code).toBe(code);
	expect(ended.said.includes(`You are using ${version}.`)).toBe(code === 1);
});
