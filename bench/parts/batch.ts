import { runBatch, type BatchCase, type BatchResult, type Spread } from '../batch';
import { fixed, mean, requireBounds } from '../figures';
import type { Part } from '../part';
import { printTable } from '../table';

/** Number of random lists of generation times with which each case runs in virtual time. */
const SEEDS = 20;
const SPREADS: Spread[] = ['each', 'log-normal', 'two speeds'];
const USUAL = { steps: 1, items: 100, limit: 10, maxConcurrent: 10 };
/** T in seconds, and the maximum of makespan divided by ideal. */
const ALONE: Bounds = [
	[1.5, 1.25],
	[2, 1.25],
	[4, 1.1],
	[10, 1.05],
	[30, 1.03],
	[120, 1.03],
];
/** The bounds for two nodes that share the limit: as good as a single node. */
const SHARED: Bounds = [
	[1.5, 1.15],
	[2, 1.15],
	[4, 1.1],
	[10, 1.1],
	[30, 1.1],
];

/** The bounds for two nodes in two workers of n8n, which know nothing about each other. */
const APART: Bounds = [
	[1.5, 1.25],
	[2, 1.25],
	[4, 1.1],
	[10, 1.1],
];

/** The bounds for accounts with more slots, and ten items for each slot. */
const SLOTS: Array<[slots: number, seconds: number, each: number, logNormal: number]> = [
	[25, 2, 1.12, 1.14],
	[25, 4, 1.06, 1.08],
	[25, 10, 1.04, 1.06],
	[50, 2, 1.2, 1.25],
	[50, 4, 1.12, 1.16],
	[100, 10, 1.06, 1.07],
	[100, 30, 1.03, 1.05],
];
/** Number of lists for accounts with more slots. */
const FEWER_SEEDS = 10;

type Bounds = Array<[seconds: number, most: number]>;
type Case = Omit<BatchCase, 'seed'>;
type Columns = ReturnType<typeof columns> & { batch: string; 'at most': number };

interface Result {
	seeds: number;
	rows: Array<Columns & { 'by status alone': number; 'its status checks': number }>;
	crowded: Columns[];
	slots: Columns[];
}

/** The time that a batch takes relative to the ideal, in virtual time. */
export const batch: Part<Result> = {
	name: 'batch',
	async run() {
		const rows = [];
		for (const [seconds, most] of ALONE) {
			for (const spread of SPREADS) rows.push(await besideStatus(seconds, spread, most));
		}
		printTable(`100 items, limit 10, virtual time, mean of ${SEEDS} lists`, rows);
		const crowded = [
			...(await shared()),
			...(await slowlyCreated()),
			...(await early()),
			...(await failing()),
			...(await single()),
		];
		printTable(
			'The limit shared, creating slow, files early, failures, and one picture alone',
			crowded,
		);
		const slots = await moreSlots();
		printTable(`Ten items for each slot, mean of ${FEWER_SEEDS} lists`, slots);
		requireBounds([...rows, ...crowded, ...slots]);
		return { seeds: SEEDS, rows, crowded, slots };
	},
	tables: ({ rows, crowded, slots }) => ({
		batch: rows.map((row) => ({
			'generations take': row.batch,
			'time ÷ ideal': `**${row['makespan / ideal'].toFixed(2)}**`,
			'status requests each': row['status requests each'],
			'probes each': row['probes each'],
			'status alone: time ÷ ideal': row['by status alone'].toFixed(2),
			'status alone: requests each': row['its status checks'],
		})),
		'batch-crowded': crowded.map((row) => ({
			'': row.batch,
			'time ÷ ideal': row['makespan / ideal'].toFixed(2),
			'rejected: no free slot': row['429 answers'],
		})),
		'batch-slots': slots.map((row) => ({
			'': row.batch,
			'time ÷ ideal': row['makespan / ideal'].toFixed(2),
			'status requests each': row['status requests each'],
			'probes each': row['probes each'],
		})),
	}),
};

async function besideStatus(seconds: number, spread: Spread, most: number) {
	const auto = await meanOf({ ...USUAL, seconds, spread, readiness: 'auto' });
	const plain = await meanOf({ ...USUAL, seconds, spread, readiness: 'status' });
	return {
		batch: nameOf(seconds, spread),
		...columns(auto),
		'at most': most,
		'by status alone': fixed(plain.ratio, 2),
		'its status checks': fixed(plain.statusRequests, 1),
	};
}

async function shared(): Promise<Columns[]> {
	const rows = [];
	for (const [seconds, most] of SHARED) {
		for (const spread of SPREADS) {
			const name = `${nameOf(seconds, spread)}, two nodes sharing the limit`;
			rows.push(await row(name, { ...USUAL, steps: 2, seconds, spread, readiness: 'auto' }, most));
		}
	}
	for (const [seconds, most] of APART) {
		const shape: Case = {
			...USUAL,
			steps: 2,
			apart: true,
			seconds,
			spread: 'each',
			readiness: 'auto',
		};
		rows.push(await row(`${seconds} s each, two nodes in two workers`, shape, most));
	}
	return rows;
}

async function slowlyCreated(): Promise<Columns[]> {
	const slow = { ...USUAL, seconds: 10, creatingSeconds: 4, spread: 'each', readiness: 'auto' };
	const rows = [];
	for (const maxConcurrent of [10, 20]) {
		const name = `10 s each, creating takes 4 s, Max Concurrent ${maxConcurrent}`;
		rows.push(await row(name, { ...slow, maxConcurrent } as Case, 1.15));
	}
	return rows;
}

/** Measures batches whose files exist before the service reports it. */
async function early(): Promise<Columns[]> {
	const rows = [];
	for (const seconds of [2, 4, 10]) {
		for (const earlySeconds of [0.3, 1]) {
			const name = `${seconds} s each, files ${earlySeconds} s before their status`;
			const shape: Case = { ...USUAL, seconds, spread: 'each', readiness: 'auto', earlySeconds };
			rows.push(await row(name, shape, 1.3));
		}
	}
	return rows;
}

/** Measures batches in which one generation in seven fails, which probes cannot detect. */
async function failing(): Promise<Columns[]> {
	const rows = [];
	for (const [seconds, spread] of [
		[2, 'each'],
		[2, 'two speeds'],
		[4, 'each'],
	] as const) {
		const name = `${nameOf(seconds, spread)}, one in seven failing`;
		const shape: Case = { ...USUAL, seconds, spread, readiness: 'auto', failingEvery: 7 };
		rows.push(await row(name, shape, 1.4));
	}
	return rows;
}

/** Measures accounts of larger plans (spec 8). */
async function moreSlots(): Promise<Columns[]> {
	const rows = [];
	for (const [limit, seconds, each, logNormal] of SLOTS) {
		for (const [spread, most] of [
			['each', each],
			['log-normal', logNormal],
		] as const) {
			const name = `${limit} slots, ${nameOf(seconds, spread)}`;
			const shape = { steps: 1, items: 10 * limit, limit, maxConcurrent: limit };
			const slots: Case = { ...shape, seconds, spread, readiness: 'auto' };
			rows.push(await row(name, slots, most, FEWER_SEEDS));
		}
	}
	return rows;
}

async function single(): Promise<Columns[]> {
	const rows = [];
	for (const seconds of [2, 4, 10, 30]) {
		const one: Case = { ...USUAL, items: 1, seconds, spread: 'each', readiness: 'auto' };
		rows.push(await row(`one image of ${seconds} s`, one, 1.2));
	}
	return rows;
}

async function row(name: string, shape: Case, most: number, seeds = SEEDS): Promise<Columns> {
	return { batch: name, ...columns(await meanOf(shape, seeds)), 'at most': most };
}

interface Mean {
	ratio: number;
	worst: number;
	statusRequests: number;
	probes: number;
	shortestGap: number;
	refusals: number;
}

async function meanOf(shape: Case, seeds = SEEDS): Promise<Mean> {
	const results: BatchResult[] = [];
	for (let seed = 1; seed <= seeds; seed++) results.push(await runBatch({ ...shape, seed }));
	return {
		ratio: mean(results.map(({ ratio }) => ratio)),
		worst: Math.max(...results.map(({ ratio }) => ratio)),
		statusRequests: mean(
			results.map(({ statusRequestsPerGeneration }) => statusRequestsPerGeneration),
		),
		probes: mean(results.map(({ probesPerGeneration }) => probesPerGeneration)),
		shortestGap: Math.min(...results.map(({ shortestGap }) => shortestGap)),
		refusals: mean(results.map(({ refusals }) => refusals)),
	};
}

function columns({ ratio, worst, statusRequests, probes, shortestGap, refusals }: Mean) {
	return {
		'makespan / ideal': fixed(ratio, 3),
		'worst list': fixed(worst, 3),
		'status requests each': fixed(statusRequests, 1),
		'shortest pause (s)': Number.isFinite(shortestGap) ? fixed(shortestGap, 1) : '-',
		'probes each': fixed(probes, 0),
		'429 answers': fixed(refusals, 0),
	};
}

function nameOf(seconds: number, spread: Spread): string {
	return {
		each: `${seconds} s each`,
		'log-normal': `${seconds} s log-normal (sigma 0.3)`,
		'two speeds': `half ${fixed(seconds / 3, 1)} s, half ${fixed((seconds * 5) / 3, 1)} s`,
		'slower later': `${fixed(seconds / 2, 1)} s each, from the middle on ${seconds} s`,
		'faster later': `${seconds} s each, from the middle on ${fixed(seconds / 2, 1)} s`,
		'one of ten times': `${seconds} s each, but one of ${10 * seconds} s`,
	}[spread];
}
