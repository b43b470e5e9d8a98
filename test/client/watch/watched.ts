import fc from 'fast-check';

import { seededRandom } from '../../../sandbox/basics/random';
import type { FakeService } from '../../support/fake-service';
import { Step } from '../../support/step';

/** Steps whose generations are watched, and what is looked at in them. */

/** The default of the nodes. */
export const auto = { readiness: 'auto' } as const;
/** The poll interval of these steps. */
export const INTERVAL_MS = 3000;
/** The longest pause between two status checks, with jitter. */
export const LONGEST_PAUSE_MS = 1.03 * INTERVAL_MS;
/** A number of seconds in whole milliseconds, so that sums of fractions do not affect comparisons. */
export const seconds = (min: number, max: number) =>
	fc.integer({ min: min * 1000, max: max * 1000 });
/** A seed of the jitter. */
export const anySeed = fc.nat({ max: 1_000_000 });

/** Creates a step whose generations take this long, with jitter. */
export function stepOf(durationMs: number, seed = 1): Step {
	const step = new Step({ pollIntervalMs: INTERVAL_MS });
	step.random = seededRandom(seed);
	step.fake.durationMs = () => durationMs;
	return step;
}

/** A quarter of a second or a thirtieth of the age, and a quarter of that for the jitter. */
export const soonAfter = (ms: number) => ms + 1.25 * Math.max(250, ms / 30) + 1;

/** One confirming check, and at most three more with growing pauses, may be sent outside of the schedule. */
const MOST_CONFIRMING = 4;

/** The gaps between the status requests for each generation. */
export function gaps(fake: FakeService): number[] {
	return fake.made.flatMap(({ id }) => {
		const times = fake.looksAt(id).map(({ at }) => at);
		return times.slice(1).map((at, index) => at - times[index]);
	});
}

/** Fails if more status checks than the confirming ones are sent within the poll interval. */
export function expectScheduled(fake: FakeService, intervalMs = INTERVAL_MS): void {
	for (const { id } of fake.made) {
		const times = fake.looksAt(id).map(({ at }) => at);
		const early = times.slice(1).filter((at, index) => at - times[index] < intervalMs);
		expect(early.length).toBeLessThanOrEqual(MOST_CONFIRMING);
	}
}
