// tsx test/client/simulation/mutants.ts [runs] [part of a name]
// Breaks each promise once, in a copy of the code, and reports after how many schedules the simulation notices. Fails
// if it does not notice, or if the code to break is not found. With 0 runs, only the latter is checked.
import { spawn } from 'node:child_process';
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
	'test/client/simulation',
	'test/support',
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
 * Runs the simulation in a folder.
 *
 * @returns the last line of what it printed
 */
async function check(folder: string, which: string): Promise<string> {
	const script = join('test', 'client', 'simulation', 'check.ts');
	const args = ['--import', 'tsx', script, runs, '1', '--brief', which];
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

/** @returns whether the simulation noticed */
async function tryOut(copy: string, mutation: Mutation, which: string): Promise<boolean> {
	const { name, also = [] } = mutation;
	const undo = [mutation, ...also].map((one) => edit(copy, one));
	const started = Date.now();
	const isStale = undo.includes(null);
	const printed = isStale || runs === '0' ? null : await check(copy, which);
	undo.reverse().forEach((putBack) => putBack?.());
	if (printed === null) return !isStale;
	const seconds = ((Date.now() - started) / 1000).toFixed(1);
	const { kept, played, violation } = JSON.parse(printed) as Record<string, unknown>;
	const verdict = kept === false ? 'found   ' : 'SURVIVED';
	console.log(`${verdict}  ${name} — after ${played} schedules, ${seconds} s: ${violation ?? ''}`);
	return kept === false;
}

async function main(): Promise<void> {
	const copy = makeCopy();
	try {
		let [found, tried] = [0, 0];
		for (const [which, all] of [
			['--unkeyed', mutations],
			['--keyed', recordMutations],
			['--asleep', waveMutations],
		] as const) {
			for (const mutation of all.filter(({ name }) => name.includes(part))) {
				tried++;
				if (await tryOut(copy, mutation, which)) found++;
			}
		}
		console.log(`${found} of ${tried} found`);
		process.exitCode = found === tried ? 0 : 1;
	} finally {
		rmSync(copy, { recursive: true, force: true });
	}
}

void main();
