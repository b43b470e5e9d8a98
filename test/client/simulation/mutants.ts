// tsx test/client/simulation/mutants.ts [runs] [part of a name]
// Breaks each promise once, in a copy of the code, and reports after how many schedules the simulation notices. If it
// does not, the other tests of client/ have to. Fails if they do not either, or if the code to break is not found. With
// 0 runs, only the latter is checked.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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

function makeCopy(): string {
	const copy = mkdtempSync(join(tmpdir(), 'mutants-'));
	for (const path of needed) cpSync(join(root, path), join(copy, path), { recursive: true });
	symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
	return copy;
}

/**
 * Runs Node.js in a folder.
 *
 * @returns what it printed; `null` if it came to no end
 */
function node(folder: string, ...args: string[]): string | null {
	const { stdout, signal } = spawnSync(process.execPath, args, {
		cwd: folder,
		encoding: 'utf8',
		maxBuffer: 64 * 1024 ** 2,
		timeout: LONGEST_MS,
	});
	return signal === null ? stdout : null;
}

/** What the simulation prints last. */
interface Verdict {
	kept?: boolean;
	played: number;
	violation?: string;
}

/** Runs the simulation in a folder. */
function simulate(folder: string, which: string, schedules: number): Verdict {
	const script = join('test', 'client', 'simulation', 'check.ts');
	const printed = node(folder, '--import', 'tsx', script, String(schedules), '1', '--brief', which);
	// Broken code may also end the process.
	if (!printed) return { played: 0 };
	return JSON.parse(printed.trim().split('\n').at(-1) ?? '') as Verdict;
}

/** What `jest --json` prints. */
interface JestOutput {
	testResults: Array<{ assertionResults: Array<{ status: string; fullName: string }> }>;
}

/**
 * Runs the other tests of `client/` in a folder.
 *
 * @returns the name of a test that fails; `null` if all pass
 */
function failingTest(folder: string): string | null {
	const jest = join('node_modules', 'jest', 'bin', 'jest.js');
	const select = ['--selectProjects', 'unit', '--testPathPatterns', 'test/client/'];
	const printed = node(folder, jest, ...select, '--testPathIgnorePatterns', 'property', '--json');
	if (printed === null) return 'the tests came to no end';
	if (printed === '') throw new Error('Jest did not start');
	const { testResults } = JSON.parse(printed) as JestOutput;
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

/** @returns whether the simulation or a test noticed. With no schedules, whether the code to break was found. */
function tryOut(copy: string, mutation: Mutation, which: string, schedules: number): boolean {
	const { name, also = [] } = mutation;
	const started = Date.now();
	const undo = [mutation, ...also].map((one) => edit(copy, one));
	const isStale = undo.includes(null);
	const verdict = isStale || schedules === 0 ? null : simulate(copy, which, schedules);
	const found = verdict?.kept === false ? verdict.violation : verdict && failingTest(copy);
	undo.reverse().forEach((putBack) => putBack?.());
	if (verdict === null) return !isStale;
	const seconds = ((Date.now() - started) / 1000).toFixed(1);
	const told = `after ${verdict.played} schedules, ${seconds} s: ${found ?? ''}`;
	console.log(`${found ? 'found   ' : 'SURVIVED'}  ${name} — ${told}`);
	return Boolean(found);
}

function main(): void {
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
				if (tryOut(copy, mutation, which, times * Number(runs))) found++;
			}
		}
		console.log(`${found} of ${tried} found`);
		process.exitCode = found === tried ? 0 : 1;
	} finally {
		rmSync(copy, { recursive: true, force: true });
	}
}

main();
