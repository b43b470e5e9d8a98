import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';

import type { Toll } from '../test/e2e/support/crash';
import { printTable } from './table';

/**
 * What idempotency keys hold and cost, in a real n8n: the end-to-end tests of that name, with more rounds than they have
 * for themselves.
 */

const root = resolve(__dirname, '..');
const ROUNDS = 30;
const MEASUREMENTS = 3;

interface Priced {
	mode: string;
	executions: number;
	items: number;
	seconds: number;
	/** Seconds, one for each measurement. */
	without: number[];
	withKeys: number[];
	/** Milliseconds that a call of the table takes. */
	times: Record<string, number>;
}

/** So many batches whose process is killed at a random moment, regular and in queue mode. */
export async function benchCrashes(): Promise<unknown> {
	const results = await endToEnd('crash', { MEDIA_CRASH_ROUNDS: String(ROUNDS) });
	const rows = [...results].map(([name, toll]) => {
		const { rounds, items, made, takenUp, uncertain, onTheWire, twice, lost } = toll as Toll;
		return {
			mode: name,
			rounds,
			items,
			'made when killed': made,
			'taken up': takenUp,
			uncertain,
			'sent within the second before': onTheWire,
			'paid twice': twice,
			lost,
		};
	});
	printTable('A process is killed in the middle of a batch, and the same rows come in again', rows);
	return { rows };
}

/** The same batches with and without keys. */
export async function benchPrice(): Promise<unknown> {
	const results = await endToEnd('price', { MEDIA_BENCH: String(MEASUREMENTS) });
	const priced = [...results.values()] as Priced[];
	const rows = priced.map(({ mode, executions, items, seconds, without, withKeys }) => ({
		mode,
		batch: `${executions} x ${items} items of ${seconds} s`,
		'without keys (s)': median(without),
		'with keys (s)': median(withKeys),
		'more (%)': Number(((median(withKeys) / median(without) - 1) * 100).toFixed(1)),
	}));
	printTable('What keys cost: from the first beginning to the last end', rows);
	const times = priced.map(({ mode, times: calls }) => ({ mode, ...calls }));
	printTable('Milliseconds that a call of the table takes, by the number of rows', times);
	return { rows, times };
}

/** Runs an end-to-end test. @returns what it has left, by the names of the files */
async function endToEnd(name: string, env: Record<string, string>): Promise<Map<string, unknown>> {
	const folder = join(root, 'output', 'e2e', name);
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	const child = spawn(process.execPath, [join('test', 'e2e', 'run.mjs'), name], {
		cwd: root,
		env: { ...process.env, ...env },
		stdio: 'inherit',
	});
	const code = await new Promise((done) => child.on('close', done));
	if (code !== 0) throw new Error(`The end-to-end test "${name}" has failed`);
	return new Map(
		readdirSync(folder).map((file): [string, unknown] => [
			file.replace('.json', ''),
			JSON.parse(readFileSync(join(folder, file), 'utf8')),
		]),
	);
}

function median(list: number[]): number {
	return [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
}
