/** The demo as a user runs it: as a separate process, in a copy of the repository. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { scripts } from '../../package.json';
import { commandLine } from '../../tools/demo/options';

const root = join(__dirname, '../..');
const notCopied = ['node_modules', '.git', 'dist', 'output', 'coverage', 'test', 'docs'];

interface Ended {
	/** As a shell reports it: 128 plus the number of the signal, if one ended the process. */
	code: number;
	said: string;
}

let folder: string;
let copy: string;
/** Where the processes put their temporary files. */
let scratch: string;
const started: ChildProcess[] = [];

beforeAll(async () => {
	folder = await mkdtemp(join(tmpdir(), 'demo-test-'));
	copy = join(folder, 'clone');
	scratch = join(folder, 'scratch');
	await mkdir(scratch);
	const filter = (path: string) => !notCopied.includes(relative(root, path));
	await cp(root, copy, { recursive: true, filter });
	await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
});

afterAll(async () => {
	for (const { pid } of started) if (pid && isRunning(pid)) process.kill(-pid, 'SIGKILL');
	await rm(folder, { recursive: true, force: true });
});

/** Runs what `npm run demo` runs. `onOutput` receives the process and all of its output so far. */
async function demo(
	args: string[],
	onOutput: (child: ChildProcess, said: string) => void = () => undefined,
): Promise<Ended> {
	const [, ...command] = (scripts.demo.split(' && ').at(-1) as string).split(' ');
	const child = spawn(process.execPath, [...command, ...args], {
		cwd: copy,
		env: { ...process.env, TMPDIR: scratch },
		// Its own process group: Ctrl-C reaches every process in it, and none may survive.
		detached: true,
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	started.push(child);
	let said = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream.on('data', (chunk: Buffer) => {
			said += chunk.toString();
			onOutput(child, said);
		});
	}
	return await new Promise((resolve) => {
		child.once('close', (code, signal) => {
			resolve({ code: code ?? 128 + constants.signals[signal as NodeJS.Signals], said });
		});
	});
}

function isRunning(group: number): boolean {
	try {
		return process.kill(-group, 0);
	} catch {
		return false;
	}
}

/** tsx has a compiler process, which ends shortly after the process that it compiles for. */
async function expectNothingLeft(): Promise<void> {
	const running = () => started.flatMap(({ pid }) => pid ?? []).filter(isRunning);
	while (running().length > 0) await sleep(50);
	const left = await readdir(scratch);
	expect(left.filter((name) => /^(n8n-engine|sandbox)-/.test(name))).toEqual([]);
}

it('reports a taken port before it does anything', async () => {
	const server = createServer();
	await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
	const { port } = server.address() as AddressInfo;
	const { code, said } = await demo(['--port', String(port)]);
	server.close();
	expect(said).toContain(`Port ${port} is taken by another program.`);
	expect(said).toContain('leave --port and --storage-port out');
	expect(said).not.toMatch(/^\s+at /m);
	expect(code).toBe(1);
	expect(await readdir(copy)).not.toContain('dist');
	await expectNothingLeft();
});

it('reports an output folder that cannot be used before it does anything', async () => {
	const { code, said } = await demo(['--output', 'package.json/output']);
	expect(said).toMatch(
		/The folder \S+output cannot be used \(.*\)\. Choose another one with --output\./,
	);
	expect(said).not.toMatch(/^\s+at /m);
	expect(code).toBe(1);
	expect(await readdir(copy)).not.toContain('dist');
	await expectNothingLeft();
});

it('builds the nodes, and creates a picture and a video', async () => {
	const { code, said } = await demo(['--time-scale', '100']);
	expect(said).toMatch(/Create Picture +starts\n[^]*credits charged[^]*Create Picture +done in/);
	expect(said).toMatch(/the video is ready\n[^]*Collect Video +done in/);
	expect(said).toContain('100,000 before, 99,952 after: 48 spent (picture, video)');
	expect(code).toBe(0);

	const output = join(copy, 'output');
	const [mp4, png] = (await readdir(output)).sort();
	expect([mp4, png]).toEqual(['evening-hills.mp4', 'evening-hills.png']);
	expect((await readFile(join(output, png))).toString('latin1', 1, 4)).toBe('PNG');
	expect((await readFile(join(output, mp4))).toString('latin1', 4, 8)).toBe('ftyp');
	expect(said).toMatch(/Picture {2}output\/evening-hills\.png {2}1368 x 768, \d+ kB, 8 credits/);
	expect(said).toMatch(
		/Video {4}output\/evening-hills\.mp4 {2}1280 x 720, 4 s, 24 fps, \d+ kB, 40 credits/,
	);
	await expectNothingLeft();
});

// The order matters: the first case reuses the build from above, and the second one removes it.
it.each(['the picture is processing', 'Building the nodes'])(
	'leaves nothing behind on Ctrl-C at "%s"',
	async (moment) => {
		const builds = moment.startsWith('Building');
		if (builds) await rm(join(copy, 'dist'), { recursive: true });
		let pressed = false;
		const { code, said } = await demo([], ({ pid }, text) => {
			if (pressed || !pid || !text.includes(moment)) return;
			pressed = true;
			process.kill(-pid, 'SIGINT');
		});
		expect(said).toContain('Stopped. Nothing is left running.');
		// Ended by SIGINT, or with code 130: on a busy machine, Node.js may see its child end before it handles the signal.
		expect(code).toBe(130);
		expect(said.includes('Building')).toBe(builds);
		await expectNothingLeft();
	},
);

describe('its options', () => {
	const read = (args: string[]) =>
		commandLine('/package')
			.exitOverride()
			.configureOutput({ writeErr: () => undefined })
			.parse(args, { from: 'user' })
			.opts();

	it('have defaults', () => {
		const usual = { port: 0, storagePort: 0, timeScale: 10, output: '/package/output' };
		expect(read([])).toEqual(usual);
	});

	it.each([
		[['--port', 'http'], "'http' is invalid. It must be a whole number from 0 to 65535."],
		[['--storage-port', '70000'], "'70000' is invalid. It must be a whole number from 0 to 65535."],
		[['--time-scale', '0'], "'0' is invalid. It must be a number above 0."],
		[['--turbo'], "unknown option '--turbo'"],
	])('reject %j', (args, message) => {
		expect(() => read(args)).toThrow(message);
	});
});
