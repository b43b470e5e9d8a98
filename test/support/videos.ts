import { seededRandom } from '../../sandbox/basics/random';
import type { CreateJob } from '../../client/jobs/job';
import { keyed, runKeyed } from './keyed-step';
import { MemoryTable } from './memory-table';
import { sleepThrough } from './sleeping-batch';
import { Step } from './step';

/** A batch of videos with idempotency keys, in virtual time. */
interface Videos {
	items: number;
	/** Number of slots, all available to this batch. */
	limit: number;
	/** How long a generation takes on average. */
	seconds: number;
	/** Maximum deviation from that average, as a fraction: 0.25 means 25 % shorter or longer. */
	spread: number;
	/** Of the durations and of all jitter. */
	seed?: number;
}

/** The result of a batch. */
interface VideosMade {
	made: number;
	/** Items that ended with an error. */
	failed: number;
	/** Share of the slots' time in which they were in use. */
	used: number;
	/** Share of the time in which a worker was held. */
	held: number;
	/** Number of waves, the step itself included. */
	waves: number;
}

/** Runs a batch that sleeps. */
export async function videosAsleep(videos: Videos): Promise<VideosMade> {
	const { step, table, jobs } = batchOf(videos);
	const { time } = step;
	const began = time.now();
	const { awakeMs, waves, settled } = await time.run(sleepThrough(step, table, jobs));
	const held = awakeMs / (time.now() - began);
	return {
		...made(videos, step, began),
		failed: Object.values(settled).filter(Boolean).length,
		held,
		waves,
	};
}

/** Runs a batch that polls: it holds a worker all the time. */
export async function videosPolled(videos: Videos): Promise<VideosMade> {
	const { step, table, jobs } = batchOf(videos);
	const began = step.time.now();
	const { outcomes } = await runKeyed(step, table, 'e', jobs);
	const failed = outcomes.filter(({ kind }) => kind === 'error').length;
	return { ...made(videos, step, began), failed, held: 1, waves: 1 };
}

function batchOf({ items, limit, seconds, spread, seed = 1 }: Videos) {
	const random = seededRandom(seed);
	const step = new Step({ maxConcurrent: limit, stopOnError: false });
	step.random = random;
	step.fake.latencyMs = 100;
	step.fake.slots = limit;
	step.fake.durationMs = () => 1000 * seconds * (1 - spread + 2 * spread * random());
	const jobs = Array.from(
		{ length: items },
		(_, index): CreateJob =>
			keyed(`p${index}`, index, `k${index}`, { readiness: 'auto', timeoutMs: 3_600_000 }),
	);
	return { step, table: new MemoryTable(step.time), jobs };
}

function made({ limit }: Videos, { fake, time }: Step, began: number) {
	const worked = fake.made.reduce((sum, { startedAt, endsAt }) => sum + endsAt - startedAt, 0);
	return { made: fake.made.length, used: worked / limit / (time.now() - began) };
}
