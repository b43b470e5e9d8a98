import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { startSandbox } from '../sandbox/server';
import { runBatch, type BatchCase, type BatchResult } from './batch';
import { runDownload, type DownloadCase } from './download';
import { thisMachine, today } from './machine';
import { runProbes } from './probes';
import { runScale } from './scale';
import { runScaled, TIME_SCALE } from './scaled';
import { printTable } from './table';

/**
 * `npm run bench`: what we claim about speed and memory, measured again. Writes `bench/results.json`.
 * `npm run bench -- batch` (or `scaled`, `scale`, `download`, `probes`) runs one part, and leaves the results of the others.
 */

/** Each case in virtual time is run with so many random lists of generation times. */
const SEEDS = 50;
const RESULTS = join(__dirname, 'results.json');

const lists = [10, 30].flatMap((seconds) => [0, 0.3].map((sigma) => ({ seconds, sigma })));
const batches: Array<Omit<BatchCase, 'seed'>> = [1, 2].flatMap((steps) =>
	lists.map((list) => ({ ...list, name: nameOf(steps, list), steps, items: 100, limit: 10 })),
);
const downloads: DownloadCase[] = [
	{ name: 'one file of 1 GiB', files: 1, size: '1GB' },
	{ name: '20 files of 50 MB at once', files: 20, size: '50MB' },
];

const parts: Record<string, () => Promise<unknown>> = {
	batch: benchBatches,
	scaled: benchScaled,
	scale: benchScale,
	download: benchDownloads,
	probes: benchProbes,
};

async function main(): Promise<void> {
	const asked = process.argv.slice(2);
	const unknown = asked.filter((name) => !Object.hasOwn(parts, name));
	if (unknown.length > 0) throw new Error(`No such part: ${unknown.join(', ')}`);
	const results = previousResults();
	for (const [name, run] of Object.entries(parts)) {
		if (asked.length === 0 || asked.includes(name)) results[name] = await run();
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
	for (const batch of batches) {
		const results: BatchResult[] = [];
		for (let seed = 1; seed <= SEEDS; seed++) results.push(await runBatch({ ...batch, seed }));
		rows.push({
			batch: batch.name,
			'makespan / ideal': fixed(mean(results.map(({ ratio }) => ratio)), 2),
			'worst list': fixed(Math.max(...results.map(({ ratio }) => ratio)), 2),
			'looks per generation': fixed(mean(results.map((result) => result.looksPerGeneration)), 2),
			'one every 3 s': fixed(mean(results.map((result) => result.plainLooksPerGeneration)), 2),
			'most above it': Math.max(...results.map(({ excessLooks }) => excessLooks)),
			'429 answers': fixed(mean(results.map(({ refusals }) => refusals)), 0),
		});
	}
	printTable(`100 items each, limit 10, polling 3 s, virtual time, mean of ${SEEDS} lists`, rows);
	return { seeds: SEEDS, rows };
}

async function benchScaled(): Promise<unknown> {
	const rows = [];
	for (const batch of batches.filter(({ steps, seconds }) => steps === 1 && seconds === 30)) {
		const result = await runScaled({ ...batch, seed: 1 });
		rows.push({
			batch: result.name,
			'makespan / ideal': fixed(result.ratio, 3),
			'makespan (s)': fixed(result.makespanSeconds, 1),
			'ideal (s)': fixed(result.idealSeconds, 1),
		});
	}
	printTable(
		`The same through the node in n8n's engine, over HTTP, ${TIME_SCALE} times faster`,
		rows,
	);
	return { timeScale: TIME_SCALE, rows };
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

function nameOf(steps: number, { seconds, sigma }: { seconds: number; sigma: number }): string {
	const times = sigma === 0 ? `${seconds} s each` : `${seconds} s log-normal (sigma ${sigma})`;
	return steps === 1 ? times : `${times}, ${steps} nodes sharing the limit`;
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
