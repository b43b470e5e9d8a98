import { seededRandom } from '../../sandbox/basics/random';
import { networkError } from '../support/answers';
import { answerLost } from '../support/fake-service';
import { keyed } from '../support/keyed-step';
import { MemoryTable } from '../support/memory-table';
import { sleepThrough } from '../support/sleeping-batch';
import { Step } from '../support/step';
import { videosAsleep } from '../support/videos';

const LIMIT = 10;
const ITEMS = 200;

/** Creates a batch of videos at a limit of ten that sleeps. */
async function night(seconds: number, spread: number, items = ITEMS, seed = 1) {
	return await videosAsleep({ items, limit: LIMIT, seconds, spread, seed });
}

const mean = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;

describe('a batch that sleeps, at a limit of ten', () => {
	it.each([0, 0.25])(
		'keeps 0.9 of the slots busy with generations of 300 s, and holds a worker for less than 15 %% (spread %p)',
		async (spread) => {
			const nights = [];
			// Where durations vary, one night differs from another by 0.02.
			for (const seed of [1, 2, 3, 4]) nights.push(await night(300, spread, ITEMS, seed));
			for (const { made, failed } of nights) {
				expect({ made, failed }).toEqual({ made: ITEMS, failed: 0 });
			}
			expect(mean(nights.map(({ used }) => used))).toBeGreaterThan(0.9);
			expect(mean(nights.map(({ held }) => held))).toBeLessThan(0.15);
		},
	);

	it.each([0, 0.25])(
		'keeps 0.8 of the slots busy with generations of 120 s (spread %p)',
		async (spread) => {
			expect((await night(120, spread, 100)).used).toBeGreaterThan(0.8);
		},
	);

	it('keeps nearly all slots busy with short generations: it stays awake', async () => {
		expect((await night(60, 0.25, 60)).used).toBeGreaterThan(0.85);
	});

	it('wakes about once for each group of generations that end together', async () => {
		const { waves } = await night(300, 0);
		// The first duration is not known.
		expect(waves).toBeLessThan(ITEMS / LIMIT + 8);
	});

	it('holds no worker for items that wait at a spending limit while all slots are taken', async () => {
		const step = new Step({ maxConcurrent: 12, maxNewGenerations: 10 });
		step.fake.slots = 8;
		step.fake.durationMs = () => 1200_000;
		const jobs = Array.from({ length: 12 }, (_, index) =>
			keyed(`a video ${index}`, index, `k${index}`, { timeoutMs: 3_600_000 }),
		);
		const began = step.time.now();
		const { awakeMs } = await step.time.run(sleepThrough(step, new MemoryTable(step.time), jobs));
		expect(step.fake.made).toHaveLength(10);
		expect(awakeMs / (step.time.now() - began)).toBeLessThan(0.05);
	});

	it('goes on if the service restarts while the batch wakes', async () => {
		const step = new Step({ maxConcurrent: 3 });
		step.fake.slots = 3;
		step.fake.durationMs = () => 300_000;
		const nobody = () => {
			throw networkError('ECONNREFUSED', 'connect');
		};
		const restart = () => step.fake.orderLooks(...Array.from({ length: 12 }, () => nobody));
		step.time.at(step.time.now() + 30_000, restart);
		const jobs = [0, 1, 2, 3, 4, 5].map((item) =>
			keyed(`p${item}`, item, `k${item}`, { timeoutMs: 3_600_000 }),
		);
		const seen = await step.time.run(sleepThrough(step, new MemoryTable(step.time), jobs));
		expect(Object.values(seen.settled)).toEqual(jobs.map(() => null));
	});

	it('does not sleep while an uncertain item waits for a slot to be sent again, with Resubmit', async () => {
		const step = new Step({ maxConcurrent: 2 });
		step.fake.slots = 1;
		step.fake.durationMs = () => 300_000;
		step.fake.order('p1', answerLost);
		const jobs = [0, 1].map((item) =>
			keyed(`p${item}`, item, `k${item}`, {
				timeoutMs: 3_600_000,
				onUncertainCharge: 'resubmit',
			}),
		);
		const seen = await step.time.run(sleepThrough(step, new MemoryTable(step.time), jobs));
		expect(Object.values(seen.settled)).toEqual([null, null]);
		expect(step.fake.made).toHaveLength(2);
	});

	it('goes back to sleep if all slots of the account are taken by others', async () => {
		const step = new Step({ maxConcurrent: LIMIT, stopOnError: false });
		step.random = seededRandom(1);
		step.fake.slots = LIMIT;
		const free = step.time.now() + 1_800_000;
		step.fake.others = () => (step.time.now() < free ? LIMIT : 0);
		const jobs = [keyed('p', 0, 'k', { timeoutMs: 3_600_000 })];
		const began = step.time.now();
		const seen = await step.time.run(sleepThrough(step, new MemoryTable(step.time), jobs));
		expect([step.fake.made.length, seen.settled]).toEqual([1, { 0: null }]);
		expect(seen.awakeMs / (step.time.now() - began)).toBeLessThan(0.1);
	});
});
