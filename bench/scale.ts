import { SlotPool, type SlotBackoff } from '../client/orders/slot-pool';
import { seededRandom } from '../sandbox/basics/random';
import { GenerationService } from '../sandbox/service';
import { logNormal } from '../sandbox/generations/timing';
import { VirtualTime } from '../test/support/virtual-time';
import { idealMakespan } from './batch';
import { runSimulatedStep } from './simulated-step';

/** Many executions on one account that know nothing about each other. */
export interface ScaleCase {
	executions: number;
	limit: number;
	/** Rate of arriving generations divided by the account's capacity. Above 1, a queue builds up. */
	load: number;
	/** Median seconds of a generation; their times are log-normal with a sigma of 0.3. */
	seconds: number;
	/** How a step probes for slots that other executions may have freed. */
	backoff: SlotBackoff;
	seed: number;
}

export interface ScaleResult {
	/** Ideal makespan divided by the actual one. Ideally, a generation starts once it has arrived and a slot is free. */
	ofIdeal: number;
	/** Seconds from arrival to the end of the step, minus the time that the generation took. */
	medianWait: number;
	longestWait: number;
	/** Number of creating requests and status requests, including failed ones. */
	requestsPerGeneration: number;
}

const MODEL = 'aurora-motion-1';
const KEY = 'enterprise';

/**
 * Runs executions with one generation each, which arrive at random times at the given load, until all have ended.
 *
 * @throws if an execution fails
 */
export async function runScale(scale: ScaleCase): Promise<ScaleResult> {
	const time = new VirtualTime();
	const random = seededRandom(scale.seed);
	const generationSeconds = logNormal(scale.seconds, 0.3);
	const service = new GenerationService({ clock: time, seed: scale.seed, generationSeconds });
	const { account, key } = service.accounts.keyOf(KEY);
	account.concurrency = scale.limit;

	const start = time.now();
	const meanGap = (scale.seconds * 1000) / (scale.limit * scale.load);
	let arrival = start;
	const arrivals = Array.from(
		{ length: scale.executions },
		() => (arrival -= Math.log(1 - random()) * meanGap),
	);
	const execute = async (at: number, index: number) => {
		await time.sleep(at - start);
		const jitter = seededRandom(scale.seed * 1e6 + index);
		const { outcomes } = await runSimulatedStep({
			service,
			time,
			random: jitter,
			key,
			items: 1,
			model: MODEL,
			maxConcurrent: 10,
			pollIntervalMs: 3000,
			timeoutMs: 24 * 3_600_000,
			readiness: 'auto',
			slots: new SlotPool({ clock: time, random: jitter, backoff: scale.backoff }),
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
	waits.sort((one, other) => one - other);
	const durations = entries.map(({ id }) => (taken.get(id) ?? 0) / 1000);
	const ideal = idealMakespan(
		durations,
		scale.limit,
		arrivals.map((at) => (at - start) / 1000),
	);
	return {
		ofIdeal: ideal / makespan,
		medianWait: waits[Math.floor(waits.length / 2)],
		longestWait: waits[waits.length - 1],
		requestsPerGeneration: service.requests.arrived.service / entries.length,
	};
}
