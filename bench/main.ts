import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { startSandbox } from '../sandbox/server';
import { runBatch, type BatchCase, type BatchResult, type Spread } from './batch';
import { runDownload, type DownloadCase } from './download';
import { benchCrashes, benchPrice } from './keys';
import { runLive } from './live';
import { thisMachine, today } from './machine';
import { runProbes } from './probes';
import { runScale } from './scale';
import { printTable } from './table';

/**
 * `npm run bench`: what we claim about speed and memory, measured again. Writes `bench/results.json`.
 * `npm run bench -- batch` (or `live`, `scale`, `download`, `probes`) runs one part, and leaves the results of the others.
 */

/** Each case in virtual time is run with so many random lists of generation times. */
const SEEDS = 20;
const RESULTS = join(__dirname, 'results.json');

const spreads: Spread[] = ['each', 'log-normal', 'two speeds'];
const usual = { steps: 1, items: 100, limit: 10, maxConcurrent: 10 };
/** T in seconds, and what the makespan may be over the ideal there. */
const bounds: Array<[seconds: number, most: number]> = [
	[1.5, 1.25],
	[2, 1.25],
	[4, 1.1],
	[10, 1.05],
	[30, 1.03],
	[120, 1.03],
];
const downloads: DownloadCase[] = [
	{ name: 'one file of 1 GiB', files: 1, size: '1GB' },
	{ name: '20 files of 50 MB at once', files: 20, size: '50MB' },
];

const parts: Record<string, () => Promise<unknown>> = {
	batch: benchBatches,
	live: benchLive,
	scale: benchScale,
	download: benchDownloads,
	probes: benchProbes,
	crash: benchCrashes,
	price: benchPrice,
};
/** In a real n8n: too long to be run beside the others. */
const onlyAsked = ['crash', 'price'];

async function main(): Promise<void> {
	const asked = process.argv.slice(2);
	const unknown = asked.filter((name) => !Object.hasOwn(parts, name));
	if (unknown.length > 0) throw new Error(`No such part: ${unknown.join(', ')}`);
	const results = previousResults();
	for (const [name, run] of Object.entries(parts)) {
		const usual = asked.length === 0 && !onlyAsked.includes(name);
		if (usual || asked.includes(name)) results[name] = await run();
	}
	const [machine, date] = [thisMachine(), today()];
	const written = { date, node: process.version, machine, ...results };
	writeFileSync(RESULTS, `${JSON.stringify(written, null, '\t')}\n`);
	console.log(
		`\nWritten to bench/results.json (${date}, ${machine.cores} cores, ${machine.memoryGiB} GiB)`,
	);
}

async function benchBatches(): Promise<unknown> {
	const rows = [];
	for (const [seconds, most] of bounds) {
		for (const spread of spreads) {
			const auto = await meanOf({ ...usual, seconds, spread, readiness: 'auto' });
			const plain = await meanOf({ ...usual, seconds, spread, readiness: 'status' });
			rows.push({
				batch: nameOf(seconds, spread),
				...columns(auto),
				'at most': most,
				'by status alone': fixed(plain.ratio, 2),
				'its looks': fixed(plain.looks, 1),
			});
		}
	}
	printTable(`100 items, limit 10, virtual time, mean of ${SEEDS} lists`, rows);
	const crowded = [];
	for (const seconds of [4, 10, 30]) {
		for (const spread of spreads) {
			const shared = { ...usual, steps: 2, seconds, spread, readiness: 'auto' } as const;
			const name = `${nameOf(seconds, spread)}, two nodes sharing the limit`;
			crowded.push({ batch: name, ...columns(await meanOf(shared)), 'at most': 1.1 });
		}
	}
	for (const maxConcurrent of [10, 20]) {
		const slow = { ...usual, maxConcurrent, seconds: 10, creatingSeconds: 4 };
		const result = await meanOf({ ...slow, spread: 'each', readiness: 'auto' });
		const name = `10 s each, creating takes 4 s, Max Concurrent ${maxConcurrent}`;
		crowded.push({ batch: name, ...columns(result), 'at most': 1.15 });
	}
	for (const seconds of [2, 4, 10, 30]) {
		const one = { ...usual, items: 1, seconds, spread: 'each', readiness: 'auto' } as const;
		const name = `one picture of ${seconds} s`;
		crowded.push({ batch: name, ...columns(await meanOf(one)), 'at most': 1.2 });
	}
	printTable('The limit shared, creating slow, and one picture alone', crowded);
	return { seeds: SEEDS, rows, crowded };
}

interface Mean {
	ratio: number;
	worst: number;
	looks: number;
	probes: number;
	shortestGap: number;
	refusals: number;
}

async function meanOf(batch: Omit<BatchCase, 'seed'>): Promise<Mean> {
	const results: BatchResult[] = [];
	for (let seed = 1; seed <= SEEDS; seed++) results.push(await runBatch({ ...batch, seed }));
	return {
		ratio: mean(results.map(({ ratio }) => ratio)),
		worst: Math.max(...results.map(({ ratio }) => ratio)),
		looks: mean(results.map(({ looksPerGeneration }) => looksPerGeneration)),
		probes: mean(results.map(({ probesPerGeneration }) => probesPerGeneration)),
		shortestGap: Math.min(...results.map(({ shortestGap }) => shortestGap)),
		refusals: mean(results.map(({ refusals }) => refusals)),
	};
}

function columns({ ratio, worst, looks, probes, shortestGap, refusals }: Mean) {
	return {
		'makespan / ideal': fixed(ratio, 3),
		'worst list': fixed(worst, 3),
		'status requests each': fixed(looks, 1),
		'shortest pause (s)': Number.isFinite(shortestGap) ? fixed(shortestGap, 1) : '-',
		'probes each': fixed(probes, 0),
		'429 answers': fixed(refusals, 0),
	};
}

/** The same through the node in n8n's engine, over HTTP, in real time. */
async function benchLive(): Promise<unknown> {
	const rows = [];
	for (const [seconds, most] of [
		[2, 1.3],
		[4, 1.15],
	]) {
		const result = await runLive({ items: 30, limit: 10, seconds });
		rows.push({
			batch: `30 items of ${seconds} s`,
			'makespan / ideal': fixed(result.ratio, 3),
			'at most': most,
			'makespan (s)': fixed(result.makespanSeconds, 1),
			'CPU of n8n (share of a core)': fixed(result.cpuShare, 2),
		});
	}
	for (const readiness of ['auto', 'status'] as const) {
		const result = await runLive({ items: 25, limit: 25, seconds: 30, readiness });
		rows.push({
			batch: `25 items of 30 s at once, readiness ${readiness}`,
			'makespan / ideal': fixed(result.ratio, 3),
			'at most': '-',
			'makespan (s)': fixed(result.makespanSeconds, 1),
			'CPU of n8n (share of a core)': fixed(result.cpuShare, 2),
		});
	}
	printTable("Through the node in n8n's engine, over HTTP, in real time", rows);
	return { rows };
}

/**
 * Why the pauses between probes for a slot are as they are: shorter ones cost requests, longer ones let slots idle, and
 * without impatience newcomers pass by those who have waited for long.
 */
async function benchScale(): Promise<unknown> {
	const executions = 10_000;
	const limit = 25;
	const load = 0.95;
	const never = Infinity;
	const probings = [
		...[5, 10, 20].map((longestPause) => ({ longestPause, patience: never })),
		...[5, 10, 20].map((longestPause) => ({ longestPause, patience: 60 })),
		{ longestPause: 10, patience: 30 },
		{ longestPause: 10, patience: 120 },
	];
	const rows = [];
	for (const probing of probings) {
		const result = await runScale({ executions, limit, load, seconds: 20, seed: 1, probing });
		rows.push({
			'longest pause (s)': probing.longestPause,
			'patience (s)': probing.patience === never ? 'endless' : probing.patience,
			'slots busy, of the ideal': fixed(result.ofIdeal, 3),
			'median wait (s)': fixed(result.medianWait, 1),
			'longest wait (s)': fixed(result.longestWait, 0),
			'longest / median': fixed(result.longestWait / result.medianWait, 0),
			'requests per generation': fixed(result.requestsPerGeneration, 1),
		});
	}
	printTable(
		`${executions} executions that share a limit of ${limit}, load ${load}, virtual time`,
		rows,
	);
	return { executions, limit, load, rows };
}

async function benchDownloads(): Promise<unknown> {
	const sandbox = await startSandbox({ timeScale: 100 });
	try {
		const rows = [];
		for (const download of downloads) {
			const result = await runDownload({ url: sandbox.url, key: sandbox.keys.hero }, download);
			rows.push({
				download: result.name,
				'memory growth (MB)': fixed(result.growthBytes / 1024 ** 2, 0),
				'MB/s': fixed(result.megabytesPerSecond, 0),
				'of curl': fixed(result.ofCurl, 2),
			});
		}
		printTable('Downloads into n8n’s storage (filesystem)', rows);
		return { rows };
	} finally {
		await sandbox.close();
	}
}

async function benchProbes(): Promise<unknown> {
	const sandbox = await startSandbox();
	try {
		const headers = {
			authorization: `Bearer ${sandbox.keys.hero}`,
			'content-type': 'application/json',
		};
		const body = JSON.stringify({ model: 'lumen-turbo', prompt: 'a boat [seconds: 9999]' });
		const path = `${sandbox.url}/v1/images/generations`;
		const made = await fetch(path, { method: 'POST', headers, body });
		const [{ url }] = ((await made.json()) as { data: Array<{ url: string }> }).data;
		const results = await runProbes(url);
		const rows = results.map((result) => ({
			storage: result.name,
			'probes a second': fixed(result.probesPerSecond, 1),
			'CPU per probe (ms)': fixed(result.cpuMsPerProbe, 2),
			'of one core': fixed(result.ofOneCore, 3),
		}));
		printTable('Looking for the first byte of 25 outputs that are not there yet', rows);
		return { rows };
	} finally {
		await sandbox.close();
	}
}

/** What the parts that are not run this time found before. */
function previousResults(): Record<string, unknown> {
	if (!existsSync(RESULTS)) return {};
	const written = JSON.parse(readFileSync(RESULTS, 'utf8')) as Record<string, unknown>;
	return Object.fromEntries(Object.entries(written).filter(([name]) => Object.hasOwn(parts, name)));
}

function nameOf(seconds: number, spread: Spread): string {
	return {
		each: `${seconds} s each`,
		'log-normal': `${seconds} s log-normal (sigma 0.3)`,
		'two speeds': `half ${fixed(seconds / 3, 1)} s, half ${fixed((seconds * 5) / 3, 1)} s`,
	}[spread];
}

function mean(values: number[]): number {
	return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function fixed(value: number, digits: number): number {
	return Number(value.toFixed(digits));
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
