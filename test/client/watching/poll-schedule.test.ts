import fc from 'fast-check';

import { PollSchedule } from '../../../client/watching/poll-schedule';

const MODEL = 'aurora-image-1';
const INTERVAL = 3000;

/** Watches a generation from its birth to the look that finds its end; at which ages it was looked at. */
function watch(
	schedule: PollSchedule,
	durationMs: number,
	{ model = MODEL, learning = true }: { model?: string | null; learning?: boolean } = {},
): number[] {
	const lookedAt: number[] = [];
	for (let ageMs = 0; ageMs < durationMs; lookedAt.push(ageMs)) {
		const watched = { model, looks: lookedAt.length, ageMs, fromBirth: true };
		const delay = schedule.delay(watched);
		if (!(delay > 0 && delay < Infinity)) throw new Error(`A delay of ${delay} ms`);
		ageMs += delay;
		if (ageMs < durationMs || !learning) continue;
		schedule.learn({ ...watched, looks: watched.looks + 1, ageMs }, delay);
	}
	return lookedAt;
}

/** How long after their ends generations are found to have ended, on average. */
function noticedAfter(schedule: PollSchedule, durations: number[]): number {
	const delays = durations.map((duration) => {
		const lookedAt = watch(schedule, duration, { learning: false });
		return lookedAt[lookedAt.length - 1] - duration;
	});
	return delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
}

/** Durations spread around an average as those of generations are. */
function spread(averageMs: number, count: number): number[] {
	return Array.from({ length: count }, (_, n) => {
		const deviations = (4 * n) / (count - 1) - 2;
		return averageMs * Math.exp(0.3 * deviations);
	});
}

describe('while nothing is known of a model', () => {
	it('a generation is looked at once every interval, with a little jitter', () => {
		for (const jitter of [0, 0.5, 0.999]) {
			const lookedAt = watch(new PollSchedule(INTERVAL, () => jitter), 30_000);
			for (const [index, at] of lookedAt.entries()) {
				const gap = at - (lookedAt[index - 1] ?? 0);
				expect(gap).toBeGreaterThanOrEqual(INTERVAL);
				expect(gap).toBeLessThan(1.05 * INTERVAL);
			}
		}
	});
});

describe('a generation that was not watched from its birth', () => {
	it('is looked at once every interval, whatever is known of its model', () => {
		const schedule = new PollSchedule(INTERVAL, () => 0, new Map([[MODEL, 60_000]]));
		for (let looks = 1; looks < 5; looks++) {
			const watched = { model: MODEL, looks, ageMs: looks * INTERVAL, fromBirth: false };
			expect(schedule.delay(watched)).toBe(INTERVAL);
		}
	});
});

describe('what is known of a model', () => {
	it('never costs a generation more looks than one every interval would', () => {
		const durations = fc.array(fc.integer({ min: 2000, max: 90_000 }), { maxLength: 4 });
		const averages = fc.option(fc.integer({ min: 2000, max: 90_000 }));
		fc.assert(
			fc.property(durations, averages, fc.constantFrom(0, 0.7), (all, average, jitter) => {
				const expected = new Map(average === null ? [] : [[MODEL, average]]);
				const schedule = new PollSchedule(INTERVAL, () => jitter, expected);
				for (const duration of all) {
					for (const [index, at] of watch(schedule, duration).entries()) {
						expect(at).toBeGreaterThanOrEqual((index + 1) * INTERVAL - 0.001);
					}
				}
			}),
			{ numRuns: 30 },
		);
	});

	it.each([10_000, 30_000, 120_000])(
		'lets an end be noticed sooner, from the catalogue’s average: %i ms',
		(average) => {
			const ignorant = new PollSchedule(INTERVAL, () => 0);
			const informed = new PollSchedule(INTERVAL, () => 0, new Map([[MODEL, average]]));
			const durations = spread(average, 301);
			expect(noticedAfter(informed, durations)).toBeLessThan(noticedAfter(ignorant, durations));
		},
	);

	it('lets an end be noticed sooner, from those that have finished', () => {
		const ignorant = new PollSchedule(INTERVAL, () => 0);
		const learned = new PollSchedule(INTERVAL, () => 0);
		for (const duration of spread(30_000, 21)) watch(learned, duration);
		const durations = spread(30_000, 301);
		expect(noticedAfter(learned, durations)).toBeLessThan(noticedAfter(ignorant, durations));
	});

	it('is nothing of another model', () => {
		const schedule = new PollSchedule(INTERVAL, () => 0, new Map([[MODEL, 60_000]]));
		for (let count = 0; count < 5; count++) watch(schedule, 45_000);
		expect(watch(schedule, 6000, { model: 'another' })).toEqual([INTERVAL, 2 * INTERVAL]);
		expect(watch(schedule, 3000, { model: null })).toEqual([INTERVAL]);
	});

	it.each([
		[1000, 90_000],
		[300_000, 4000],
	])('may be wrong (%i ms, and it is %i): every end is found', (average, duration) => {
		const schedule = new PollSchedule(INTERVAL, () => 0, new Map([[MODEL, average]]));
		for (let count = 0; count < 3; count++) {
			expect(watch(schedule, duration).length).toBeGreaterThan(0);
		}
	});
});
