import { GenerationService } from '../sandbox/service';
import { logNormal, type GenerationTime } from '../sandbox/generations/timing';
import { seededRandom } from '../sandbox/basics/random';
import { VirtualTime } from '../test/support/virtual-time';
import type { Readiness } from '../client/job';
import type { Outcome } from '../client/outcome';
import { SlotPool } from '../client/orders/slot-pool';
import { runSimulatedStep } from './simulated-step';

/** How the generation times of a batch lie around T. */
export type Spread = 'each' | 'log-normal' | 'two speeds';

/** A batch of generations on an account with a limit, in virtual time. */
export interface BatchCase {
	/** Steps that run beside each other and share the limit. */
	steps: number;
	/** Whether each runs in a process of its own, and knows nothing of the others. */
	apart?: boolean;
	/** Items of each step. */
	items: number;
	limit: number;
	/** Of each step. */
	maxConcurrent: number;
	/** T: median seconds of a generation. */
	seconds: number;
	spread: Spread;
	/** How ends are noticed. */
	readiness: Readiness;
	/** Seconds until a creating request is answered; its work begins at once. */
	creatingSeconds?: number;
	/** Seconds by which a file is in the storage before its generation is done. */
	earlySeconds?: number;
	/** Every n-th generation fails. */
	failingEvery?: number;
	seed: number;
}

export interface BatchResult {
	/** Makespan over ideal: the same list of generation times with every end noticed at once. */
	ratio: number;
	/** Status requests. */
	statusRequestsPerGeneration: number;
	probesPerGeneration: number;
	/** The shortest time between two status requests for one generation, in seconds. */
	shortestGap: number;
	refusals: number;
}

const POLL_INTERVAL_MS = 3000;
const MODEL = 'aurora-motion-1';

/**
 * Runs a case to its end.
 *
 * @throws if an item has no generation
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
			model: MODEL,
			maxConcurrent: batch.maxConcurrent,
			pollIntervalMs: POLL_INTERVAL_MS,
			timeoutMs: 3_600_000,
			readiness: batch.readiness,
			failingEvery: batch.failingEvery,
			slots: batch.apart ? slots() : shared,
			creatingMs: 1000 * (batch.creatingSeconds ?? 0),
		});
	const steps = Array.from({ length: batch.steps }, async (_, index) => await step(index));
	const results = await time.run(Promise.all(steps));
	const unfinished = results
		.flatMap(({ outcomes }) => outcomes)
		.filter((outcome) => !hasEnded(outcome));
	if (unfinished.length > 0) throw new Error(`${unfinished.length} items did not finish`);

	const times = [...statusRequestsById(service).values()];
	return {
		ratio: (time.now() - start) / 1000 / idealMakespan(durations, batch.limit),
		statusRequestsPerGeneration: service.requests.on('status').length / durations.length,
		probesPerGeneration: service.requests.on('download').length / durations.length,
		shortestGap: Math.min(...times.flatMap(gaps)) / 1000,
		refusals: service.requests.on('create').filter(({ status }) => status === 429).length,
	};
}

/** True if the generation of an item ended, also if it failed. */
function hasEnded(outcome: Outcome<null>): boolean {
	if (outcome.kind === 'error') return outcome.error.code === 'generation_failed';
	return outcome.kind === 'done';
}

function drawing({ seconds, spread, seed }: BatchCase): GenerationTime {
	if (spread === 'each') return () => seconds;
	if (spread === 'log-normal') return logNormal(seconds, 0.3);
	const random = seededRandom(seed);
	return () => (random() < 0.5 ? seconds / 3 : (seconds * 5) / 3);
}

/**
 * List scheduling: each generation begins as soon as it has come and a slot is free.
 *
 * @param arrivals when they come; all at the start where none are given
 * @returns seconds until the last has ended
 */
export function idealMakespan(durations: number[], slots: number, arrivals: number[] = []): number {
	const freeAt = new Array<number>(slots).fill(0);
	durations.forEach((duration, index) => {
		const first = freeAt.indexOf(Math.min(...freeAt));
		freeAt[first] = Math.max(freeAt[first], arrivals[index] ?? 0) + duration;
	});
	return Math.max(...freeAt);
}

/** When each generation's status was asked for. */
function statusRequestsById(service: GenerationService): Map<string, number[]> {
	const times = new Map<string, number[]>();
	for (const { path, at } of service.requests.on('status')) {
		times.set(path, [...(times.get(path) ?? []), at]);
	}
	return times;
}

function gaps(times: number[]): number[] {
	return times.slice(1).map((at, index) => at - times[index]);
}
