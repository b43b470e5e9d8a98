import fc from 'fast-check';

import { seededRandom } from '../../../sandbox/basics/random';
import { batch, errorIn, inShort, Step } from '../../support/step';
import {
	anySeed,
	auto,
	seconds,
	soonAfter,
	stepOf,
	expectScheduled,
	INTERVAL_MS,
	LONGEST_PAUSE_MS,
} from './watched';

/** The ages of a generation at its status checks, in seconds. */
const checksOf = (step: Step, index = 0) => {
	const { id, startedAt } = step.fake.made[index];
	return step.fake.looksAt(id).map(({ at }) => (at - startedAt) / 1000);
};

describe('the end of a generation', () => {
	it('is detected at once by its output, whenever the last scheduled check was', async () => {
		await fc.assert(
			fc.asyncProperty(seconds(0, 900), anySeed, async (duration, seed) => {
				const step = stepOf(duration, seed);
				const { outcomes } = await step.run(batch(1, { ...auto, timeoutMs: 1_800_000 }));
				expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
				expect(step.elapsed).toBeLessThanOrEqual(soonAfter(duration));
			}),
			// A check came just before the end.
			{ examples: [[10_001, 1]] },
		);
	});

	it('is confirmed by one status check', async () => {
		const step = stepOf(2000);
		await step.run(batch(1, auto));
		expect(checksOf(step)).toHaveLength(1);
	});

	it('frees its slot as soon as it is confirmed', async () => {
		await fc.assert(
			fc.asyncProperty(seconds(0.5, 900), anySeed, async (duration, seed) => {
				const step = stepOf(duration, seed);
				step.settings.maxConcurrent = 1;
				await step.run(batch(3, { ...auto, timeoutMs: 1_800_000 }));
				const [, { startedAt }, next] = step.fake.made;
				expect(next.startedAt - startedAt).toBeLessThanOrEqual(soonAfter(duration));
			}),
		);
	});

	it('is decided by the status, so that the revised prompt is not lost', async () => {
		const step = stepOf(11_000);
		step.settings.maxConcurrent = 1;
		step.fake.revisedPrompt = (prompt) => (prompt === 'p0' ? undefined : `a better ${prompt}`);
		const { outcomes } = await step.run(batch(4, auto));
		expect(
			outcomes.map((outcome) => outcome.kind === 'done' && outcome.generation.revised_prompt),
		).toEqual([null, 'a better p1', 'a better p2', 'a better p3']);
	});

	it('is detected within ten seconds or a tenth of its age if it is a failure', async () => {
		await fc.assert(
			fc.asyncProperty(seconds(0.5, 900), anySeed, async (duration, seed) => {
				const step = stepOf(duration, seed);
				step.fake.failure = () => 'out of paint';
				const { outcomes } = await step.run(batch(1, { ...auto, timeoutMs: 1_800_000 }));
				expect(errorIn(outcomes[0]).code).toBe('generation_failed');
				const late = step.elapsed - duration;
				expect(late).toBeLessThanOrEqual(Math.max(10_000, step.elapsed / 10));
			}),
			// The latest case: it fails at once.
			{ examples: [[1, 1]] },
		);
	});
});

describe('the scheduled checks', () => {
	it('come at four and ten seconds, then every ten seconds or a tenth of the age', async () => {
		const step = stepOf(400_000);
		await step.run(batch(1, auto));
		const ages = checksOf(step).slice(0, -1);
		const wanted = [4, 10];
		while ((wanted.at(-1) as number) < 400) {
			const last = wanted.at(-1) as number;
			wanted.push(last + Math.max(10, last / 10));
		}
		ages.forEach((age, index) => {
			// The jitter of the first two, three percent, carries over.
			expect(age).toBeGreaterThanOrEqual(wanted[index]);
			expect(age).toBeLessThanOrEqual(1.04 * wanted[index]);
		});
		expect(ages.length).toBeGreaterThan(20);
	});

	it('are never closer than the poll interval', async () => {
		const step = new Step({ pollIntervalMs: 30_000 });
		step.fake.durationMs = () => 200_000;
		await step.run(batch(1, auto));
		const ages = checksOf(step).slice(0, -1);
		expect(ages.length).toBeGreaterThan(4);
		ages.slice(1).forEach((age, index) => expect(age - ages[index]).toBeGreaterThanOrEqual(30));
	});
});

describe('a URL that has expired', () => {
	it('is not probed, and is renewed by a status check', async () => {
		const step = stepOf(500_000);
		const { time, fake } = step;
		fake.url = (id) => `https://storage.example.com/${id}.png?expires=${time.now() / 1000 + 20}`;
		const { outcomes } = await step.run(batch(1, auto));
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		for (const { url, at } of fake.probed) {
			const expiresAt = Number(new URL(url).searchParams.get('expires')) * 1000;
			// It may expire before its probe is sent.
			expect(at - expiresAt).toBeLessThanOrEqual(INTERVAL_MS);
		}
		expect(new Set(fake.probed.map(({ url }) => url)).size).toBeGreaterThan(20);
	});
});

describe('no probe is sent', () => {
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

it.each([
	[10, 25],
	[200, 40],
])(
	'a step of %d generations sends at most %d probes a second, and detects the ends no later than polling',
	async (count, most) => {
		const step = stepOf(0);
		step.settings.maxConcurrent = count;
		const random = seededRandom(7);
		const durations = Array.from({ length: count }, () => 2000 + 40_000 * random());
		step.fake.durationMs = (prompt) => durations[Number(prompt.slice(1))];
		const ends = new Map<string, number>();
		step.finish = async (_, generation) => {
			ends.set(generation.item.id, step.time.now());
			return { generation, output: '' };
		};
		await step.run(batch(count, auto));
		const times = step.fake.probed.map(({ at }) => at);
		times.forEach((at, index) => {
			if (index >= most) expect(at - times[index - most]).toBeGreaterThanOrEqual(1000);
		});
		const queued = 1000;
		const late = step.fake.made.map(({ id, endsAt }) => (ends.get(id) ?? Infinity) - endsAt);
		expect(Math.max(...late)).toBeLessThanOrEqual(LONGEST_PAUSE_MS + queued);
		// On average, polling detects an end half an interval late.
		const mean = late.reduce((sum, ms) => sum + ms) / late.length;
		expect(mean).toBeLessThanOrEqual(INTERVAL_MS / 2);
		expectScheduled(step.fake);
	},
);
