import fc from 'fast-check';

import type { Probed } from '../../../client/basics/ports';
import { seededRandom } from '../../../sandbox/basics/random';
import { networkError, refusal } from '../../support/answers';
import { hanging, type FakeService } from '../../support/fake-service';
import { batch, errorIn, inShort, Step, waitingFor } from '../../support/step';

const auto = { readiness: 'auto' } as const;
const INTERVAL_MS = 3000;
/** So many seconds, in whole milliseconds: sums of fractions are not what is compared here. */
const seconds = (min: number, max: number) => fc.integer({ min: min * 1000, max: max * 1000 });
const anySeed = fc.nat({ max: 1_000_000 });

/** A step whose generations take so long, with jitter. */
function stepOf(durationMs: number, seed = 1): Step {
	const step = new Step({ pollIntervalMs: INTERVAL_MS });
	step.random = seededRandom(seed);
	step.fake.durationMs = () => durationMs;
	return step;
}

/** A quarter of a second or a thirtieth of the age, and a quarter of that for the jitter. */
const soonAfter = (ms: number) => ms + 1.25 * Math.max(250, ms / 30) + 1;

/** The gaps between the status requests for each generation. */
function gaps(fake: FakeService): number[] {
	return fake.made.flatMap(({ id }) => {
		const times = fake.looksAt(id).map(({ at }) => at);
		return times.slice(1).map((at, index) => at - times[index]);
	});
}

describe('the end of a generation', () => {
	it('is noticed at once by its output, with one status request', async () => {
		await fc.assert(
			fc.asyncProperty(seconds(0, 9.9), anySeed, async (duration, seed) => {
				const step = stepOf(duration, seed);
				const { outcomes } = await step.run(batch(1, auto));
				expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
				expect(step.elapsed).toBeLessThanOrEqual(soonAfter(duration));
				expect(step.fake.looksAt('generation-1')).toHaveLength(1);
			}),
			{ numRuns: 60 },
		);
	});

	it('waits for the status to be due where it was just asked for and nothing is known of the storage', async () => {
		const step = stepOf(10_100);
		await step.run(batch(1, auto));
		const [first, second] = step.fake.looksAt('generation-1').map(({ at }) => at);
		expect(second - first).toBe(INTERVAL_MS);
		expect(step.elapsed).toBeLessThanOrEqual(10_100 + INTERVAL_MS);
	});

	it('is noticed at once however long it takes, once the storage has proved itself', async () => {
		await fc.assert(
			fc.asyncProperty(seconds(0.5, 900), anySeed, async (duration, seed) => {
				const step = stepOf(1000, seed);
				step.settings.maxConcurrent = 1;
				step.fake.durationMs = (prompt) => (prompt === 'p0' ? 1000 : duration);
				const { outcomes } = await step.run(batch(2, { ...auto, timeoutMs: 1_800_000 }));
				expect(outcomes.map(inShort)).toEqual([1, 2].map((n) => `completed generation-${n}`));
				const { startedAt } = step.fake.made[1];
				const took = step.time.now() - startedAt;
				expect(took).toBeLessThanOrEqual(soonAfter(duration));
			}),
			{ numRuns: 40 },
		);
	});

	it('that is a failure is noticed within ten seconds or a tenth of its age', async () => {
		await fc.assert(
			fc.asyncProperty(seconds(0.5, 900), anySeed, async (duration, seed) => {
				const step = stepOf(duration, seed);
				step.fake.failure = () => 'out of paint';
				const { outcomes } = await step.run(batch(1, { ...auto, timeoutMs: 1_800_000 }));
				expect(errorIn(outcomes[0]).code).toBe('generation_failed');
				const late = step.elapsed - duration;
				expect(late).toBeLessThanOrEqual(Math.max(10_000, step.elapsed / 10));
			}),
			// The latest of all: it fails at once.
			{ numRuns: 40, examples: [[1, 1]] },
		);
	});
});

describe('the status', () => {
	const answers: Array<() => Probed> = [
		() => ({ status: 404, oneByte: false }),
		() => ({ status: 206, oneByte: true }),
		() => ({ status: 302, oneByte: false }),
		() => {
			throw networkError('ECONNREFUSED', 'connect');
		},
	];
	const looks = [
		() => undefined,
		() => refusal(503, 'service_unavailable'),
		() => ({ status: 200, body: '{"id":"gen' }),
		() => {
			throw networkError('ECONNRESET', 'read');
		},
	];

	it('is never asked for more often than the poll interval, whatever happens', async () => {
		const schedule = fc.record({
			readiness: fc.constantFrom('auto', 'status', 'outputUrl'),
			interval: fc.constantFrom(1000, 3000, 20_000),
			durations: fc.array(seconds(0.1, 60), { minLength: 1, maxLength: 4 }),
			probes: fc.array(fc.constantFrom(...answers), { maxLength: 20 }),
			looks: fc.array(fc.constantFrom(...looks), { maxLength: 6 }),
			seed: anySeed,
		});
		await fc.assert(
			fc.asyncProperty(schedule, async ({ readiness, interval, durations, seed, ...ordered }) => {
				const step = new Step({ pollIntervalMs: interval, stopOnError: false });
				step.random = seededRandom(seed);
				step.fake.durationMs = (prompt) => durations[Number(prompt.slice(1))];
				step.fake.orderLooks(...ordered.looks);
				const usual = step.fake.storage;
				step.fake.storage = (...args) => ordered.probes.shift()?.() ?? usual(...args);
				const { outcomes } = await step.run(batch(durations.length, { readiness }));
				expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
				for (const gap of gaps(step.fake)) expect(gap).toBeGreaterThanOrEqual(interval);
			}),
			{ numRuns: 100 },
		);
	});

	it('is asked for as often where several items wait for the same generation, each with its own terms', async () => {
		const item = fc.record({
			readiness: fc.constantFrom('auto' as const, 'status' as const, 'outputUrl' as const),
			timeoutMs: seconds(1, 300),
		});
		const schedule = fc.record({
			items: fc.array(item, { minLength: 2, maxLength: 4 }),
			duration: seconds(0.1, 60),
			looks: fc.array(fc.constantFrom(...looks), { maxLength: 6 }),
			seed: anySeed,
		});
		await fc.assert(
			fc.asyncProperty(schedule, async ({ items, duration, seed, ...ordered }) => {
				const step = stepOf(duration, seed);
				step.settings.stopOnError = false;
				await step.run(batch(1, { wait: false }));
				step.fake.orderLooks(...ordered.looks);
				const { outcomes } = await step.runAgain(
					items.map((terms, index) =>
						waitingFor('generation-1', index, { ...terms, onTimeout: 'continue' }),
					),
				);
				for (const gap of gaps(step.fake)) expect(gap).toBeGreaterThanOrEqual(INTERVAL_MS);
				outcomes.forEach((outcome, index) => {
					const patient = items[index].timeoutMs > duration + 120_000;
					if (patient) expect(inShort(outcome)).toBe('completed generation-1');
				});
			}),
			{ numRuns: 100 },
		);
	});

	it('that is asked for again counts once, however many items it is asked for', async () => {
		const step = stepOf(5000);
		await step.run(batch(1, { wait: false }));
		step.fake.orderLooks(() => refusal(503, 'service_unavailable'));
		const jobs = [0, 1].map((index) => waitingFor('generation-1', index));
		const { outcomes, stats } = await step.runAgain(jobs);
		expect(outcomes.map(inShort)).toEqual(Array(2).fill('completed generation-1'));
		expect(stats.retries).toBe(1);
	});

	it('that hangs for one item is given up by the others in their own time', async () => {
		const step = stepOf(5000);
		await step.run(batch(1, { wait: false }));
		step.fake.orderLooks(hanging);
		const { outcomes } = await step.runAgain(
			[60_000, 2000].map((timeoutMs, index) =>
				waitingFor('generation-1', index, { timeoutMs, onTimeout: 'continue' }),
			),
		);
		expect(outcomes[1]).toMatchObject({ generation: { status: null, timed_out: true } });
	});

	it('alone is asked for where that was chosen', async () => {
		const step = stepOf(40_000);
		await step.run(batch(3, { readiness: 'status' }));
		expect(step.fake.probed).toEqual([]);
	});

	it('is not asked for where the output URL was chosen instead, which is asked every poll interval', async () => {
		const step = stepOf(10_000);
		const { outcomes } = await step.run(batch(1, { readiness: 'outputUrl' }));
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		expect(step.fake.looksAt('generation-1')).toEqual([]);
		const { startedAt } = step.fake.made[0];
		expect(step.fake.probed.map(({ at }) => at - startedAt)).toEqual([3000, 6000, 9000, 12_000]);
	});
});

const missing = { status: 404, oneByte: false };

const storages: Record<string, FakeService['storage']> = {
	'that says 403 until the file is there': (_, written) =>
		written ? { status: 206, oneByte: true } : { status: 403, oneByte: false },
	'that ignores ranges': (_, written) => (written ? { status: 200, oneByte: false } : missing),
	'that redirects': () => ({ status: 302, oneByte: false }),
	'with a page for whatever is asked': () => ({ status: 200, oneByte: false }),
	'in trouble': () => ({ status: 503, oneByte: false }),
	'that cannot be reached': () => {
		throw networkError('ECONNREFUSED', 'connect');
	},
	'that never answers': hanging,
	'with a placeholder from the beginning': () => ({ status: 206, oneByte: true }),
};

describe.each(Object.entries(storages))('a storage %s', (_, storage) => {
	it('leads to the file, not before it is there, and no later than polling would and one look', async () => {
		await fc.assert(
			fc.asyncProperty(seconds(0.1, 120), anySeed, async (duration, seed) => {
				const step = stepOf(duration, seed);
				step.fake.storage = storage;
				const { outcomes } = await step.run(batch(1, auto));
				expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
				expect(step.elapsed).toBeGreaterThanOrEqual(duration);
				const plain = stepOf(duration, seed);
				await plain.run(batch(1));
				expect(step.elapsed).toBeLessThanOrEqual(plain.elapsed + INTERVAL_MS);
			}),
			{ numRuns: 25 },
		);
	});
});

describe('a storage that answers with anything but the byte or its absence', () => {
	it.each([
		'that redirects',
		'with a page for whatever is asked',
		'in trouble',
		'that cannot be reached',
		'that never answers',
	])('is not asked for the same generation again: one %s', async (name) => {
		const step = stepOf(30_000);
		step.fake.storage = storages[name];
		await step.run(batch(3, auto));
		expect(step.fake.probed).toHaveLength(3);
	});
});

describe.each([
	['remembers that it has denied a file', 404],
	['answers 403 whatever is there', 403],
])('a storage that %s', (_, status) => {
	const denying = (step: Step) => (step.fake.storage = () => ({ status, oneByte: false }));

	it('leads to the file as soon as a failure would be noticed', async () => {
		await fc.assert(
			fc.asyncProperty(seconds(0.1, 120), anySeed, async (duration, seed) => {
				const step = stepOf(duration, seed);
				denying(step);
				const { outcomes } = await step.run(batch(1, auto));
				expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
				const late = step.elapsed - duration;
				expect(late).toBeLessThanOrEqual(Math.max(10_000, step.elapsed / 10));
			}),
			{ numRuns: 25 },
		);
	});

	it('is not asked again in the whole step, which polls from then on', async () => {
		const step = stepOf(4000);
		step.settings.maxConcurrent = 1;
		denying(step);
		const { outcomes } = await step.run(batch(4, auto));
		expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
		const [first, ...others] = step.fake.made;
		expect(new Set(step.fake.probed.map(({ id }) => id))).toEqual(new Set([first.id]));
		for (const { id, endsAt } of others) {
			const seen = step.fake.looksAt(id).at(-1)?.at ?? Infinity;
			expect(seen - endsAt).toBeLessThanOrEqual(1.03 * INTERVAL_MS);
		}
	});
});

describe('a URL that has expired', () => {
	it('is not asked, and renewed by the status', async () => {
		const step = stepOf(60_000);
		const { time, fake } = step;
		fake.url = (id) => `https://storage.example.com/${id}.png?expires=${time.now() / 1000 + 20}`;
		const { outcomes } = await step.run(batch(1, auto));
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		for (const { url, at } of fake.probed) {
			expect(Number(new URL(url).searchParams.get('expires')) * 1000).toBeGreaterThan(at);
		}
		expect(new Set(fake.probed.map(({ url }) => url)).size).toBeGreaterThan(2);
	});

	it('is renewed at once for an id that is given', async () => {
		const step = stepOf(5000);
		await step.run(batch(1, { wait: false }));
		const { outcomes } = await step.runAgain([waitingFor('generation-1', 0, auto)]);
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		expect(step.fake.looksAt('generation-1')[0].at).toBeLessThan(step.fake.probed[0].at);
		expect(step.elapsed).toBeLessThanOrEqual(soonAfter(5000));
	});
});

describe('no probe leaves', () => {
	it.each([180, 400, 5000, 12_345])('after a Stop at %d ms', async (ms) => {
		const step = stepOf(100_000);
		step.stopAt(ms);
		const { outcomes } = await step.run(batch(8, auto));
		expect(outcomes.map(({ kind }) => kind)).toEqual(Array(8).fill('stopped'));
		const { startedAt } = step.fake.made[0];
		for (const { at } of step.fake.probed) expect(at - startedAt).toBeLessThanOrEqual(ms);
		expect(step.elapsed).toBe(ms);
	});

	it.each(['auto', 'outputUrl'] as const)('after the timeout: %s', async (readiness) => {
		const step = stepOf(100_000);
		await step.run(batch(1, { readiness, timeoutMs: 7000, onTimeout: 'continue' }));
		const { startedAt } = step.fake.made[0];
		expect(step.fake.probed.length).toBeGreaterThan(0);
		for (const { at } of step.fake.probed) expect(at - startedAt).toBeLessThan(7000);
		expect(step.elapsed).toBe(7000);
	});
});

describe('a step of 200 generations', () => {
	it('sends at most 40 probes a second, and notices the ends no later than polling does', async () => {
		const step = stepOf(0);
		step.settings.maxConcurrent = 200;
		const random = seededRandom(7);
		const durations = Array.from({ length: 200 }, () => 2000 + 40_000 * random());
		step.fake.durationMs = (prompt) => durations[Number(prompt.slice(1))];
		const ends = new Map<string, number>();
		step.finish = async (_, generation) => {
			ends.set(generation.item.id, step.time.now());
			return { generation, output: '' };
		};
		await step.run(batch(200, auto));
		const times = step.fake.probed.map(({ at }) => at);
		times.forEach((at, index) => {
			if (index >= 40) expect(at - times[index - 40]).toBeGreaterThanOrEqual(1000);
		});
		const queued = 1000;
		const late = step.fake.made.map(({ id, endsAt }) => (ends.get(id) ?? Infinity) - endsAt);
		expect(Math.max(...late)).toBeLessThanOrEqual(1.03 * INTERVAL_MS + queued);
		// Polling notices an end half an interval late in the mean.
		const mean = late.reduce((sum, ms) => sum + ms) / late.length;
		expect(mean).toBeLessThanOrEqual(INTERVAL_MS / 2);
		for (const gap of gaps(step.fake)) expect(gap).toBeGreaterThanOrEqual(INTERVAL_MS);
	});
});
