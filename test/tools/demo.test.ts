/** The demo as a user runs it: as a separate process, in a copy of the repository. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { scripts } from '../../package.json';

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

it('leaves nothing behind on Ctrl-C', async () => {
	let pressed = false;
	const { code, said } = await demo([], ({ pid }, text) => {
		if (pressed || !pid || !text.includes('the picture is processing')) return;
		pressed = true;
		process.kill(-pid, 'SIGINT');
	});
	expect(said).toContain('Stopped. Nothing is left running.');
	// Ended by SIGINT, or with code 130: on a busy machine, Node.js may see its child end before it handles the signal.
	expect(code).toBe(130);
	await expectNothingLeft();
});
