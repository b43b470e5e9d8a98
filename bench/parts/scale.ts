import { fixed } from '../figures';
import type { Part } from '../part';
import { runScale } from '../scale';
import { printTable } from '../table';

const EXECUTIONS = 10_000;
const LIMIT = 25;
const LOAD = 0.95;
const NEVER = Infinity;
/** The nodes use a longest pause of 10 s and a patience of 60 s. */
const BACKOFFS = [
	...[5, 10, 20].map((longestPause) => ({ longestPause, patience: NEVER })),
	...[5, 10, 20].map((longestPause) => ({ longestPause, patience: 60 })),
	{ longestPause: 10, patience: 30 },
	{ longestPause: 10, patience: 120 },
];

interface Result {
	executions: number;
	limit: number;
	load: number;
	rows: Array<Awaited<ReturnType<typeof row>>>;
}

/**
 * Explains the pauses between probes for a slot. Shorter ones cost requests, and longer ones leave slots idle. Without
 * shorter pauses after a long wait, new executions would overtake those that have waited for long.
 */
export const scale: Part<Result> = {
	name: 'scale',
	async run() {
		const rows = [];
		for (const backoff of BACKOFFS) rows.push(await row(backoff));
		const title = `${EXECUTIONS} executions that share a limit of ${LIMIT}, load ${LOAD}, virtual time`;
		printTable(title, rows);
		return { executions: EXECUTIONS, limit: LIMIT, load: LOAD, rows };
	},
	tables: ({ rows }) => ({
		scale: rows.map((each) => ({
			'longest pause between requests': `${each['longest pause (s)']} s`,
			'shorter pauses after':
				each['patience (s)'] === 'endless' ? '-' : `${each['patience (s)']} s`,
			'slots busy, of the ideal': each['slots busy, of the ideal'].toFixed(3),
			'median wait': `${each['median wait (s)'].toFixed(0)} s`,
			'longest wait': `${each['longest wait (s)']} s`,
			'requests each': each['requests per generation'],
		})),
	}),
};

async function row(backoff: (typeof BACKOFFS)[number]) {
	const shape = { executions: EXECUTIONS, limit: LIMIT, load: LOAD, seconds: 20, seed: 1, backoff };
	const result = await runScale(shape);
	return {
		'longest pause (s)': backoff.longestPause,
		'patience (s)': backoff.patience === NEVER ? 'endless' : backoff.patience,
		'slots busy, of the ideal': fixed(result.ofIdeal, 3),
		'median wait (s)': fixed(result.medianWait, 1),
		'longest wait (s)': fixed(result.longestWait, 0),
		'longest / median': fixed(result.longestWait / result.medianWait, 0),
		'requests per generation': fixed(result.requestsPerGeneration, 1),
	};
}
