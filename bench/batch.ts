import { GenerationService } from '../sandbox/service';
import { logNormal, type GenerationTime } from '../sandbox/generations/timing';
import { seededRandom } from '../sandbox/basics/random';
import { VirtualTime } from '../test/support/virtual-time';
import type { Readiness } from '../client/jobs/job';
import type { Outcome } from '../client/jobs/outcome';
import { SlotPool } from '../client/orders/slot-pool';
import { idealMakespan } from '../test/support/makespan';
import { runSimulatedStep } from './simulated-step';

export { idealMakespan };

/** How the generation times of a batch are distributed around T. */
export type Spread =
	| 'each'
	| 'log-normal'
	| 'two speeds'
	| 'slower later'
	| 'faster later'
	| 'one of ten times';

/** A batch of generations on an account with a limit, in virtual time. */
export interface BatchCase {
	/** Number of steps that run in parallel and share the limit. */
	steps: number;
	/** True if each step runs in a separate process and knows nothing about the others. */
	apart?: boolean;
	/** Number of items of each step. */
	items: number;
	limit: number;
	/** Maximum number of generations that each step runs at the same time. */
	maxConcurrent: number;
	/** T: median seconds of a generation. */
	seconds: number;
	spread: Spread;
	/** How the end of a generation is detected. */
	readiness: Readiness;
	/** Seconds by which a file is in the storage before its generation is completed. */
	earlySeconds?: number;
	/** Every n-th generation fails. */
	failingEvery?: number;
	seed: number;
}

export interface BatchResult {
	/** Makespan divided by the ideal: the same generation times with every end detected immediately. */
	ratio: number;
	/** Number of status requests per generation. */
	statusRequestsPerGeneration: number;
	probesPerGeneration: number;
}

/**
 * Runs a case to its end.
 *
 * @throws if the generation of an item did not end
 */
export async function runBatch(batch: BatchCase): Promise<BatchResult> {
	const time = new VirtualTime();
	const durations: number[] = [];
	const draw = drawing(batch);
	const generationSeconds: GenerationTime = (generation) => {
		const seconds = draw(generation);
		durations.push(seconds);
		return seconds;
	};
	const service = new GenerationService({ clock: time, seed: batch.seed, generationSeconds });
	const { account, key } = service.accounts.keyOf('main');
	account.concurrency = batch.limit;
	const early = { kind: 'early', seconds: batch.earlySeconds ?? 0 } as const;
	service.faults.order({ on: 'download', times: 'always', action: early });

	const start = time.now();
	const slots = () => new SlotPool({ clock: time, random: seededRandom(batch.seed) });
	const shared = slots();
	const step = async (index: number) =>
		await runSimulatedStep({
			service,
			time,
			random: seededRandom(batch.seed * 100 + index),
			key,
			items: batch.items,
			maxConcurrent: batch.maxConcurrent,
			readiness: batch.readiness,
			failingEvery: batch.failingEvery,
			slots: batch.apart ? slots() : shared,
		});
	const steps = Array.from({ length: batch.steps }, async (_, index) => await step(index));
	const results = await time.run(Promise.all(steps));
	const unfinished = results
		.flatMap(({ outcomes }) => outcomes)
		.filter((outcome) => !hasEnded(outcome));
	if (unfinished.length > 0) throw new Error(`${unfinished.length} items did not finish`);

	return {
		ratio: (time.now() - start) / 1000 / idealMakespan(durations, batch.limit),
		statusRequestsPerGeneration: service.requests.on('status').length / durations.length,
		probesPerGeneration: service.requests.on('download').length / durations.length,
	};
}

/** True if the generation of an item ended, even if it failed. */
function hasEnded(outcome: Outcome<null>): boolean {
	if (outcome.kind === 'error') return outcome.error.code === 'generation_failed';
	return outcome.kind === 'done';
}

function drawing({ items, seconds, spread, seed }: BatchCase): GenerationTime {
	if (spread === 'each') return () => seconds;
	if (spread === 'log-normal') return logNormal(seconds, 0.3);
	let made = 0;
	if (spread === 'slower later') return () => (made++ < items / 2 ? seconds / 2 : seconds);
	if (spread === 'faster later') return () => (made++ < items / 2 ? seconds : seconds / 2);
	if (spread === 'one of ten times') return () => (made++ === 0 ? 10 * seconds : seconds);
	const random = seededRandom(seed);
	return () => (random() < 0.5 ? seconds / 3 : (seconds * 5) / 3);
}
