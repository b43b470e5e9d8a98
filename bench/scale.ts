import { SlotPool, type SlotBackoff } from '../client/orders/slot-pool';
import { seededRandom } from '../sandbox/basics/random';
import { logNormal } from '../sandbox/generations/timing';
import { GenerationService } from '../sandbox/service';
import { idealMakespan } from '../test/support/makespan';
import { VirtualTime } from '../test/support/virtual-time';
import { median, type Row, type Tables } from './report';
import { runSimulatedStep } from './simulated-step';

const EXECUTIONS = 10_000;
const LIMIT = 25;
/** Rate of arriving generations, divided by the account's capacity. Above 1, a queue builds up. */
const LOAD = 0.95;
/** Median seconds of a generation. Their times are log-normal, with a sigma of 0.3. */
const SECONDS = 20;
/** The nodes use the first. The others are alternatives that were tried. */
const BACKOFFS = [
	{ longestPause: 10, patience: 60 },
	{ longestPause: 5, patience: 60 },
	{ longestPause: 10, patience: Infinity },
];

/**
 * Many executions with one generation each, which share an account and know nothing about each other, in virtual time.
 * Shorter pauses between requests for a slot cost requests, and longer ones leave slots idle. Without shorter pauses
 * after a long wait, new executions would overtake those that have waited for long.
 */
export async function scale(quick: boolean): Promise<Tables> {
	const rows = [];
	for (const backoff of BACKOFFS) rows.push(await rowOf(backoff, quick ? 300 : EXECUTIONS));
	return { scale: rows };
}

/** @throws if an execution fails */
async function rowOf(backoff: SlotBackoff, executions: number): Promise<Row> {
	const time = new VirtualTime();
	const random = seededRandom(1);
	const generationSeconds = logNormal(SECONDS, 0.3);
	const service = new GenerationService({ clock: time, seed: 1, generationSeconds });
	const { account, key } = service.accounts.keyOf('enterprise');
	account.concurrency = LIMIT;

	const start = time.now();
	const meanGap = (SECONDS * 1000) / (LIMIT * LOAD);
	let arrival = start;
	const arrivals = Array.from(
		{ length: executions },
		() => (arrival -= Math.log(1 - random()) * meanGap),
	);
	const execute = async (at: number, index: number) => {
		await time.sleep(at - start);
		const jitter = seededRandom(1e6 + index);
		const slots = new SlotPool({ clock: time, random: jitter, backoff });
		const ports = { service, time, random: jitter, key, slots };
		const { outcomes } = await runSimulatedStep({
			...{ ...ports, items: 1, maxConcurrent: 10, readiness: 'auto' },
			timeoutMs: 24 * 3_600_000,
		});
		const [outcome] = outcomes;
		if (outcome.kind !== 'done') throw new Error(`Execution ${index}: ${outcome.kind}`);
		return { id: outcome.generation.id, spent: time.now() - at };
	};
	const ended = await time.run(Promise.all(arrivals.map(execute)));
	const makespan = (time.now() - start) / 1000;

	const entries = service.books.generations;
	const taken = new Map(entries.map(({ id, created, finishes }) => [id, finishes - created]));
	const waits = ended.map(({ id, spent }) => (spent - (taken.get(id) ?? 0)) / 1000);
	const durations = entries.map(({ id }) => (taken.get(id) ?? 0) / 1000);
	const arrived = arrivals.map((at) => (at - start) / 1000);
	const { longestPause, patience } = backoff;
	return {
		'longest pause between requests': `${longestPause} s`,
		'shorter pauses after': patience === Infinity ? '-' : `${patience} s`,
		'slots busy, of the ideal': (idealMakespan(durations, LIMIT, arrived) / makespan).toFixed(3),
		'median wait': `${median(waits).toFixed(0)} s`,
		'longest wait': `${Math.max(...waits).toFixed(0)} s`,
		'requests each': Number((service.requests.arrived.service / entries.length).toFixed(1)),
	};
}
