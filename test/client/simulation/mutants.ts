// tsx test/client/simulation/mutants.ts [runs] [part of a name]
// Breaks each promise once, in a copy of the code, and reports after how many schedules the simulation notices. If it
// does not, the other tests of client/ have to. Fails if they do not either, or if the code to break is not found. With
// 0 runs, only the latter is checked.
import { spawn } from 'node:child_process';
import {
	cpSync,
	existsSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { mutations, type Edit, type Mutation } from './mutations';
import { recordMutations } from './mutations-of-record';
import { waveMutations } from './mutations-of-waves';

const root = resolve(__dirname, '../../..');
const needed = [
	'client',
	'nodes',
	'sandbox',
	'test/client',
	'test/engine/setup',
	'test/support',
	'jest.config.js',
	'package.json',
];
const [runs = '3000', part = ''] = process.argv.slice(2);
/** Broken code may loop forever without any virtual time passing. */
const LONGEST_MS = 300_000;

/** What `jest --json` prints. */
interface JestOutput {
	testResults: Array<{ assertionResults: Array<{ status: string; fullName: string }> }>;
}

function makeCopy(): string {
	const copy = mkdtempSync(join(tmpdir(), 'mutants-'));
	for (const path of needed) cpSync(join(root, path), join(copy, path), { recursive: true });
	symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
	return copy;
}

/**
 * Runs the simulation in a folder.
 *
 * @returns the last line of what it printed
 */
async function check(folder: string, which: string, schedules: number): Promise<string> {
	const script = join('test', 'client', 'simulation', 'check.ts');
	const args = ['--import', 'tsx', script, String(schedules), '1', '--brief', which];
	const child = spawn(process.execPath, args, {
		cwd: folder,
		stdio: ['ignore', 'pipe', 'inherit'],
		timeout: LONGEST_MS,
	});
	let printed = '';
	child.stdout.on('data', (chunk) => (printed += String(chunk)));
	await new Promise((done) => child.on('close', done));
	return printed.trim().split('\n').at(-1) || '{"played":0,"violation":"it came to no end"}';
}

/**
 * Runs the other tests of `client/` in a folder.
 *
 * @returns the name of a test that fails; `null` if all pass
 */
async function failingTest(folder: string): Promise<string | null> {
	const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
	const outputFile = join(folder, 'tests.json');
	const select = ['--selectProjects', 'unit', '--testPathPatterns', 'test/client/'];
	const args = [...select, '--testPathIgnorePatterns', 'property', '--json', '--outputFile'];
	const child = spawn(process.execPath, [jest, ...args, outputFile], {
		cwd: folder,
		stdio: ['ignore', 'ignore', 'pipe'],
		timeout: LONGEST_MS,
	});
	let log = '';
	child.stderr.on('data', (chunk) => (log += String(chunk)));
	await new Promise((done) => child.on('close', done));
	if (child.signalCode !== null) return 'the tests came to no end';
	if (!existsSync(outputFile)) throw new Error(log);
	const { testResults } = JSON.parse(readFileSync(outputFile, 'utf8')) as JestOutput;
	rmSync(outputFile);
	const results = testResults.flatMap(({ assertionResults }) => assertionResults);
	return results.find(({ status }) => status === 'failed')?.fullName ?? null;
}

/** @returns a function that restores the file; `null` if the code to break is not found */
function edit(copy: string, { file, from, to }: Edit): (() => void) | null {
	const path = join(copy, file);
	const original = readFileSync(path, 'utf8');
	const parts = original.split(from);
	if (parts.length !== 2) {
		console.log(`STALE     ${from}: found ${parts.length - 1} times in ${file}`);
		return null;
	}
	writeFileSync(path, parts.join(to));
	return () => writeFileSync(path, original);
}

/** @returns whether the simulation noticed, or a test */
async function tryOut(
	copy: string,
	mutation: Mutation,
	which: string,
	schedules: number,
): Promise<boolean> {
	const { name, also = [] } = mutation;
	const undo = [mutation, ...also].map((one) => edit(copy, one));
	const started = Date.now();
	const isStale = undo.includes(null);
	const printed = isStale || schedules === 0 ? null : await check(copy, which, schedules);
	const { kept, played, violation } = JSON.parse(printed ?? '{}') as Record<string, unknown>;
	const found = kept === false ? violation : printed && (await failingTest(copy));
	undo.reverse().forEach((putBack) => putBack?.());
	if (printed === null) return !isStale;
	const seconds = ((Date.now() - started) / 1000).toFixed(1);
	const verdict = found ? 'found   ' : 'SURVIVED';
	console.log(`${verdict}  ${name} — after ${played} schedules, ${seconds} s: ${found ?? ''}`);
	return Boolean(found);
}

async function main(): Promise<void> {
	const copy = makeCopy();
	try {
		let [found, tried] = [0, 0];
		for (const [which, all, times] of [
			['--unkeyed', mutations, 1],
			['--keyed', recordMutations, 1],
			// Schedules of waves take a tenth of the time.
			['--asleep', waveMutations, 7],
		] as const) {
			for (const mutation of all.filter(({ name }) => name.includes(part))) {
				tried++;
				if (await tryOut(copy, mutation, which, times * Number(runs))) found++;
			}
		}
		console.log(`${found} of ${tried} found`);
		process.exitCode = found === tried ? 0 : 1;
	} finally {
		rmSync(copy, { recursive: true, force: true });
	}
}

void main();
