import { GenerationService } from '../sandbox/service';
import { logNormal, type GenerationTime } from '../sandbox/generations/timing';
import { seededRandom } from '../sandbox/basics/random';
import { VirtualTime } from '../test/support/virtual-time';
import { runSimulatedStep } from './simulated-step';

/** A batch of generations on an account with a limit, in virtual time. */
export interface BatchCase {
	name: string;
	/** Steps that run beside each other and share the limit. */
	steps: number;
	/** Items of each step. */
	items: number;
	limit: number;
	/** Median seconds of a generation. */
	seconds: number;
	/** Deviation of the logarithm of the generation time; 0: all take the same. */
	sigma: number;
	seed: number;
}

export interface BatchResult {
	name: string;
	makespanSeconds: number;
	/** The same list of generation times with every end noticed at once. */
	idealSeconds: number;
	/** Makespan over ideal. */
	ratio: number;
	/** The largest share by which the looks at one generation exceed those of one every interval; 0: never more. */
	excessLooks: number;
	looksPerGeneration: number;
	/** Looks that one every interval would have cost. */
	plainLooksPerGeneration: number;
	refusals: number;
}

const POLL_INTERVAL_MS = 3000;
const MODEL = 'aurora-motion-1';

/** Runs a case to its end. @throws where not every item came to its generation */
export async function runBatch(batch: BatchCase): Promise<BatchResult> {
	const time = new VirtualTime();
	const durations: number[] = [];
	const draw = batch.sigma === 0 ? () => batch.seconds : logNormal(batch.seconds, batch.sigma);
	const generationSeconds: GenerationTime = (generation) => {
		const seconds = draw(generation);
		durations.push(seconds);
		return seconds;
	};
	const service = new GenerationService({ clock: time, seed: batch.seed, generationSeconds });
	const { account, key } = service.accounts.keyOf('main');
	account.concurrency = batch.limit;

	const start = time.now();
	const results = await time.run(
		Promise.all(
			Array.from(
				{ length: batch.steps },
				async (_, step) =>
					await runSimulatedStep({
						service,
						time,
						random: seededRandom(batch.seed * 100 + step),
						key,
						items: batch.items,
						model: MODEL,
						maxConcurrent: batch.limit,
						pollIntervalMs: POLL_INTERVAL_MS,
						timeoutMs: 3_600_000,
						expectedMs: batch.seconds * 1000,
					}),
			),
		),
	);
	const unfinished = results
		.flatMap(({ outcomes }) => outcomes)
		.filter(({ kind }) => kind !== 'done');
	if (unfinished.length > 0) throw new Error(`${unfinished.length} items did not finish`);

	const makespanSeconds = (time.now() - start) / 1000;
	const idealSeconds = idealMakespan(durations, batch.limit);
	const looks = looksById(service);
	const counts = service.books.generations.map(({ id }) => looks.get(id) ?? 0);
	const plain = durations.map((seconds) => Math.ceil((seconds * 1000) / POLL_INTERVAL_MS));
	return {
		name: batch.name,
		makespanSeconds,
		idealSeconds,
		ratio: makespanSeconds / idealSeconds,
		excessLooks: Math.max(0, ...counts.map((count, index) => count - plain[index])),
		looksPerGeneration: mean(counts),
		plainLooksPerGeneration: mean(plain),
		refusals: service.requests.on('create').filter(({ status }) => status === 429).length,
	};
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

function looksById(service: GenerationService): Map<string, number> {
	const looks = new Map<string, number>();
	for (const { path } of service.requests.on('status')) {
		const id = path.split('/').pop() ?? '';
		looks.set(id, (looks.get(id) ?? 0) + 1);
	}
	return looks;
}

function mean(values: number[]): number {
	return values.reduce((sum, value) => sum + value, 0) / values.length;
}
