/** The scripts of package.json: what they have in common. */
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../..');
const tools = join(root, 'tools');

interface Ended {
	code: number;
	said: string;
}

interface Options {
	cwd?: string;
	env?: Record<string, string>;
	/** Receives the process id and all of the output so far. */
	onOutput?: (pid: number, said: string) => void;
}

/** Runs Node.js until it ends, without proxy settings of this machine. */
async function node(args: string[], { cwd = root, env, onOutput }: Options = {}): Promise<Ended> {
	const child = spawn(process.execPath, args, {
		cwd,
		env: { ...process.env, NO_PROXY: undefined, no_proxy: undefined, ...env },
		detached: true,
	});
	let said = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream.on('data', (chunk: Buffer) => {
			said += chunk.toString();
			onOutput?.(child.pid as number, said);
		});
	}
	return await new Promise((done) =>
		child.once('close', (code) => done({ code: code ?? -1, said })),
	);
}

it.each([
	[{ HTTP_PROXY: 'http://proxy:3128' }, '127.0.0.1,localhost'],
	[{ HTTP_PROXY: 'http://proxy:3128', no_proxy: '.corp' }, '.corp,127.0.0.1,localhost'],
])('requests to this machine bypass the proxy: %j', async (env, hosts) => {
	const shown = "['HTTP_PROXY', 'NO_PROXY', 'no_proxy'].map((name) => process.env[name]).join(' ')";
	const { said } = await node(['--import', './tools/install.mjs', '-p', shown], { env });
	expect(said.trim()).toBe(`${env.HTTP_PROXY} ${hosts} ${hosts}`);
});

it('the dependencies are installed when they are missing or have changed, and only then', async () => {
	const folder = await mkdtemp(join(tmpdir(), 'install-test-'));
	const install = async () => await node(['tools/install.mjs'], { cwd: folder });
	/** A lock file with one package, which is a folder. */
	const lock = async (version: string) => {
		const dependencies = { one: 'file:one' };
		const one = { version, resolved: 'file:one' };
		const packages = { '': { name: 'x', dependencies }, 'node_modules/one': one };
		await writeFile(join(folder, 'one/package.json'), JSON.stringify({ name: 'one', version }));
		await writeFile(
			join(folder, 'package.json'),
			JSON.stringify({ name: 'x', engines: { node: '>=20' }, dependencies }),
		);
		await writeFile(
			join(folder, 'package-lock.json'),
			JSON.stringify({ name: 'x', lockfileVersion: 3, packages }),
		);
		await writeFile(join(folder, '.npmrc'), 'install-links=true\n');
	};
	try {
		await mkdir(join(folder, 'one'));
		await mkdir(join(folder, 'tools'));
		for (const file of ['install.mjs', 'no-proxy.cjs']) {
			await cp(join(tools, file), join(folder, 'tools', file));
		}
		await lock('1.0.0');
		const first = await install();
		expect(first).toMatchObject({ code: 0, said: expect.stringContaining('Installing') });
		expect(await install()).toEqual({ code: 0, said: '' });
		await lock('2.0.0');
		await install();
		const installed = await readFile(join(folder, 'node_modules/one/package.json'), 'utf8');
		expect(installed).toContain('2.0.0');
		await writeFile(join(folder, 'package-lock.json'), '{ "packages": { "node_modules/y": {} } }');
		const broken = await install();
		expect(broken.said).toContain('could not be installed');
		expect(broken.code).toBe(1);
	} finally {
		await rm(folder, { recursive: true });
	}
});

describe('commands that run in parallel', () => {
	const parallel = join(tools, 'in-parallel.mjs');
	const tests = `node -e "console.log('3 passed, 0 failed')"`;
	const forever = 'node -e "setInterval(() => {}, 1000)"';

	it('end with the line of the first one', async () => {
		const { code, said } = await node([parallel, tests, 'node -e 0']);
		expect(said.trimEnd().split('\n').at(-1)).toBe('3 passed, 0 failed');
		expect(code).toBe(0);
	});

	it('end with the sum if several count tests', async () => {
		const others = `node -e "console.log('4 passed, 0 failed')"`;
		const { code, said } = await node([parallel, tests, others]);
		expect(said.trimEnd().split('\n').at(-1)).toBe('7 passed, 0 failed');
		expect(code).toBe(0);
	});

	it('fail together: the first failure ends the others', async () => {
		const { code, said } = await node([parallel, forever, 'node -e "process.exit(3)"']);
		expect(said).toMatch(/FAILED +node -e "process\.exit\(3\)"/);
		expect(said.trimEnd().split('\n').at(-1)).toBe('0 passed, 0 failed');
		expect(code).toBe(1);
	});

	it('end on Ctrl-C', async () => {
		const talking = `node -e "console.log('begun'); setInterval(() => {}, 1000)"`;
		let pressed = false;
		const { code } = await node([parallel, talking, forever], {
			onOutput: (pid, said) => {
				if (pressed || !said.includes('begun')) return;
				pressed = true;
				process.kill(-pid, 'SIGINT');
			},
		});
		expect(code).toBe(130);
	});
});

it("the linter has n8n's default configuration, without which n8n does not verify a package", async () => {
	const template = '@n8n/node-cli/dist/template/templates/shared/default/eslint.config.mjs';
	const read = async (...path: string[]) => await readFile(join(root, ...path), 'utf8');
	expect(await read('eslint.config.mjs')).toBe(await read('node_modules', template));
});
