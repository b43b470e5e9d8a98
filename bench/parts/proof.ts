import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import { limit } from '../../client/async';
import type { Part } from '../part';
import { printTable } from '../table';

const RUNS = 10;
const SCHEDULES_EACH = 100_000;
const FIRST_SEED = 20_261_121;
const check = join(__dirname, '..', '..', 'test', 'client', 'simulation', 'check.ts');
/** As `npm run proof` does: stack traces of expected errors would take minutes. */
const PROOF = ['--stack-trace-limit=0', '--max-semi-space-size=64', '--import', 'tsx', check];

/** The output of `check.ts --brief`. */
interface Verdict {
	kept: boolean;
	played: number;
	violation?: string;
	/** Number of events, by kind. */
	tally: Record<string, number>;
}

interface Result {
	seeds: string;
	played: number;
	tally: Record<string, number>;
}

/** The payment proof with idempotency keys, a hundred times as long as in the tests. */
export const proof: Part<Result> = {
	name: 'proof',
	onlyAsked: true,
	async run() {
		const result = { seeds: `${FIRST_SEED} to ${FIRST_SEED + RUNS - 1}`, played: 0, tally: {} };
		// Ends the other runs if one fails.
		const broken = new AbortController();
		const onACore = limit(availableParallelism());
		const runs = Array.from({ length: RUNS }, async (_, run) => {
			const seed = FIRST_SEED + run;
			const { played, tally } = await onACore(async () => await play(seed, broken.signal));
			result.played += played;
			result.tally = sum(result.tally, tally);
			console.log(`${result.played} schedules, every promise kept`);
		});
		await Promise.all(runs).finally(() => broken.abort());
		printTable('The payment proof with idempotency keys', [row(result)]);
		return result;
	},
	tables: (result) => ({ proof: [row(result)] }),
};

/** @throws if a promise was broken */
async function play(seed: number, signal: AbortSignal): Promise<Verdict> {
	const args = [...PROOF, String(SCHEDULES_EACH), String(seed), '--keyed', '--brief'];
	const verdict = JSON.parse(await printed(args, signal)) as Verdict;
	if (!verdict.kept) throw new Error(`Broken with the seed ${seed}: ${verdict.violation}`);
	return verdict;
}

function sum(one: Record<string, number>, other: Record<string, number>) {
	return Object.fromEntries(
		Object.entries(other).map(([name, count]) => [name, count + (one[name] ?? 0)]),
	);
}

function row({ seeds, played, tally }: Result) {
	const { executions, deaths, generations, lost, refunds } = tally;
	return {
		'schedules played': played,
		seeds,
		executions,
		'of them killed': deaths,
		'generations paid': generations,
		'with a lost answer': lost,
		refunded: refunds,
	};
}

async function printed(args: string[], signal: AbortSignal): Promise<string> {
	const child = spawn(process.execPath, args, {
		stdio: ['ignore', 'pipe', 'inherit'],
		signal,
	});
	let text = '';
	child.stdout.on('data', (chunk) => (text += chunk));
	child.on('error', (error) => (text = error.message));
	await new Promise((done) => child.on('close', done));
	return text;
}
