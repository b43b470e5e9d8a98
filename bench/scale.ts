import { SlotPool, type Probing } from '../client/orders/slot-pool';
import { seededRandom } from '../sandbox/basics/random';
import { GenerationService } from '../sandbox/service';
import { logNormal } from '../sandbox/generations/timing';
import { VirtualTime } from '../test/support/virtual-time';
import { idealMakespan } from './batch';
import { runSimulatedStep } from './simulated-step';

/** Many executions that know nothing of each other, on one account. */
export interface ScaleCase {
	executions: number;
	limit: number;
	/** Generations that come, over those that the account can make: above 1 a queue builds up. */
	load: number;
	/** Median seconds of a generation; their times are log-normal with a sigma of 0.3. */
	seconds: number;
	/** How a step asks for a slot that others may have left. */
	probing: Probing;
	seed: number;
}

export interface ScaleResult {
	/** Share of the slots' time used of what the ideal uses: each generation begun as soon as it has come and a slot is free. */
	ofIdeal: number;
	/** From arrival to the end of the step, less the time that the generation took, in seconds. */
	medianWait: number;
	longestWait: number;
	/** Creating requests and status requests, failed ones included. */
	requestsPerGeneration: number;
}

const MODEL = 'aurora-motion-1';
const KEY = 'enterprise';

/**
 * Executions of one generation each come at random, at the given load, until all have ended.
 *
 * @throws where one fails
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
			slots: new SlotPool({ clock: time, random: jitter, probing: scale.probing }),
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
