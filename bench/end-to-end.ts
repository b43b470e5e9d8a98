/** Benches in a real n8n. End-to-end tests measure, and this file makes tables of the figures that they write. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

import type { Toll } from '../test/e2e/support/crash';
import type { SleepToll } from '../test/e2e/support/sleep-kills';
import type { Verdict } from '../test/support/chaos/verdict';
import { videosAsleep, videosPolled } from '../test/support/videos';
import { fixed, median, type Row, type Tables } from './report';

const ROOT = resolve(__dirname, '..');

/**
 * Runs an end-to-end test, and returns the contents of the files that it writes, by file name.
 *
 * @param env environment variables that make the test measure
 * @throws if the test fails
 */
async function figuresOf<Figures>(
	name: string,
	env: Record<string, string | number> = {},
): Promise<Array<[file: string, figures: Figures]>> {
	const folder = join(ROOT, 'output', 'e2e', name);
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	const jest = [
		require.resolve('jest/bin/jest'),
		'--config',
		join('test', 'e2e', 'jest.config.js'),
	];
	const only = ['--testMatch', `**/test/e2e/${name}.{test,nightly}.ts`];
	const variables = Object.entries(env).map(([key, value]) => [key, String(value)]);
	const child = spawn(process.execPath, [...jest, ...only], {
		cwd: ROOT,
		env: { ...process.env, ...Object.fromEntries(variables) },
		stdio: 'inherit',
	});
	const code = await new Promise((done) => child.on('close', done));
	if (code !== 0) throw new Error(`The end-to-end test "${name}" has failed`);
	const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
	return files.map((file) => [
		file.replace('.json', ''),
		JSON.parse(readFileSync(join(folder, file), 'utf8')) as Figures,
	]);
}

/** Batches whose process is killed at a random moment, in regular and in queue mode. */
export async function crash(quick: boolean): Promise<Tables> {
	const tolls = await figuresOf<Toll>('crash', { MEDIA_CRASH_ROUNDS: quick ? 2 : 30 });
	const rows = tolls.map(([mode, toll]) => ({
		mode,
		rounds: toll.rounds,
		items: toll.items,
		'created when killed': toll.made,
		reused: toll.takenUp,
		uncertain: toll.uncertain,
		'sent less than 1 s before': toll.onTheWire,
		'paid twice': toll.twice,
		lost: toll.lost,
	}));
	return { crash: rows };
}

/** Batches that sleep: how many slots they use, in virtual time. */
export async function sleep(): Promise<Tables> {
	const percent = (part: number) => `${Math.round(100 * part)} %`;
	const slotRows: Row[] = [];
	for (const seconds of [30, 60, 120, 300, 600]) {
		for (const spread of [0, 0.25]) {
			const videos = { items: 200, limit: 10, seconds, spread };
			const [asleep, polled] = [await videosAsleep(videos), await videosPolled(videos)];
			for (const { made, failed } of [asleep, polled]) {
				if (made !== videos.items || failed > 0) throw new Error(`${failed} failed, ${made} made`);
			}
			slotRows.push({
				'a generation takes': `${seconds} s${spread > 0 ? `, ± ${percent(spread)}` : ''}`,
				'slots in use, asleep': percent(asleep.used),
				'slots in use, polled': percent(polled.used),
				'a worker is held': percent(asleep.held),
				'wake-ups': asleep.waves - 1,
			});
		}
	}
	return { 'sleep-slots': slotRows };
}

/** The effect of killed processes on batches that sleep. */
export async function kills(quick: boolean): Promise<Tables> {
	const env = { MEDIA_SLEEP_KILLS: quick ? 1 : 30 };
	const rows = (await figuresOf<SleepToll>('sleeping-batch.kills', env)).map(([mode, toll]) => ({
		mode,
		'processes killed': toll.kills,
		batches: toll.batches,
		'under way when killed': toll.underWay,
		'continued by themselves': toll.continued,
		'ended with an error': toll.failed,
		'reused by the next run': toll.reused,
		'uncertain items': toll.uncertain,
		'paid twice': toll.twice,
		lost: toll.lost,
	}));
	return { 'sleep-kills': rows };
}

/** One batch in one n8n. Times are in seconds, one for each measurement. */
interface Priced {
	mode: string;
	executions: number;
	items: number;
	concurrency: number;
	seconds: number;
	without: number[];
	withKeys: number[];
	/** With keys, if the table also contains 100,000 rows of other executions. */
	besideMany: number[];
}

/** The same batches with and without idempotency keys. */
export async function price(quick: boolean): Promise<Tables> {
	const priced = await figuresOf<Priced>('price', { MEDIA_BENCH: quick ? 1 : 3 });
	const seconds = (values: number[]) => `${median(values).toFixed(0)} s`;
	const rows = priced.map(([, one]) => ({
		n8n: `${one.mode}, ${one.concurrency} slots`,
		batch: `${one.executions} x ${one.items} items of ${one.seconds} s`,
		'without keys': seconds(one.without),
		'with keys': seconds(one.withKeys),
		more: `${fixed((median(one.withKeys) / median(one.without) - 1) * 100, 1)} %`,
		'beside 100,000 rows': seconds(one.besideMany),
	}));
	return { price: rows };
}

/** Load and every kind of failure at once. */
interface Chaos extends Verdict {
	executions: number;
	/** Time from the first start of an execution to the end. */
	seconds: number;
	/** Number of executions that were run again. */
	again: number;
	kills: number;
	/** Number of requests that failed, by kind of failure. */
	troubles: Record<string, number>;
}

/** Load and every kind of failure at once in queue mode: batches that poll, and batches that sleep. */
export async function chaos(quick: boolean): Promise<Tables> {
	const rows = [];
	for (const [batches, MEDIA_CHAOS_ASLEEP] of [
		['awake', '0'],
		['asleep', '1'],
	]) {
		const env = { MEDIA_CHAOS: quick ? 20 : 300, MEDIA_CHAOS_ASLEEP };
		for (const [, figures] of (await figuresOf<Chaos>('chaos', env)).filter(isQueue)) {
			rows.push(chaosRow(batches, figures));
		}
	}
	return { chaos: rows };
}

const isQueue = ([file]: [string, unknown]) => file === 'queue';

function chaosRow(batches: string, chaos: Chaos): Row {
	const { loseAnswer = 0, error = 0, truncate = 0 } = chaos.troubles;
	return {
		batches,
		items: chaos.items,
		time: `${fixed(chaos.seconds, 0)} s`,
		'workers killed': chaos.kills,
		'requests and downloads failed': loseAnswer + error + truncate,
		'executions run again': chaos.again,
		returned: chaos.handedOn,
		'uncertain (charged)': `${chaos.uncertain} (${chaos.uncertainPaid})`,
		'paid twice': chaos.paidTwice,
		lost: chaos.lost,
		'slots busy while there was work': chaos.slotUse.toFixed(2),
	};
}
