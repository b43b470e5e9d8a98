import { spawn } from 'node:child_process';
import { join } from 'node:path';

import type { Part } from '../part';
import { printTable } from '../table';

const SCHEDULES = 1_000_000;
const SEED = 20_261_121;
const CHECK = join(__dirname, '..', '..', 'test', 'client', 'simulation', 'check.ts');

/** What `check.ts --brief` prints. */
interface Verdict {
	kept: boolean;
	played: number;
	violation?: string;
	/** What happened on the way, by what it is. */
	tally: Record<string, number>;
}

interface Result extends Verdict {
	seed: number;
}

/** The payment proof with idempotency keys, a hundred times as long as in the tests. */
export const proof: Part<Result> = {
	name: 'proof',
	onlyAsked: true,
	async run() {
		const verdict = JSON.parse(
			await printed([CHECK, String(SCHEDULES), String(SEED), '--keyed', '--brief']),
		) as Verdict;
		if (!verdict.kept) throw new Error(`Broken with the seed ${SEED}: ${verdict.violation}`);
		const result = { seed: SEED, ...verdict };
		printTable('The payment proof with idempotency keys', [row(result)]);
		return result;
	},
	tables: (result) => ({ proof: [row(result)] }),
};

function row({ seed, played, tally }: Result) {
	const { executions, deaths, generations, lost, refunds } = tally;
	return {
		'schedules played': played,
		seed,
		executions,
		'of them killed': deaths,
		'generations paid': generations,
		'with a lost answer': lost,
		refunded: refunds,
		'promises broken': 0,
	};
}

async function printed(args: string[]): Promise<string> {
	const child = spawn(process.execPath, ['--import', 'tsx', ...args], {
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	let text = '';
	child.stdout.on('data', (chunk) => (text += chunk));
	await new Promise((done) => child.on('close', done));
	return text;
}
