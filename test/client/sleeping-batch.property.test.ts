import fc from 'fast-check';

import { asleepSchedule, AsleepTally, playAsleep } from './simulation/asleep';

/**
 * Extends the proof of `payment.property.test.ts` to batches that sleep. Waves die between two requests or in the
 * middle of one, and the user stops the batch. `npm run proof` plays more schedules.
 */

it('no item of a sleeping batch is charged twice or lost, no matter which wave dies', async () => {
	const tally = new AsleepTally();
	const property = fc.asyncProperty(asleepSchedule, async (schedule) => {
		tally.add(await playAsleep(schedule));
	});
	await fc.assert(property, { numRuns: 200, seed: 20_260_101, includeErrorInReport: true });
	// Check that the schedules exercised every failure.
	expect(tally.deaths).toBeGreaterThan(60);
	expect(tally.stops).toBeGreaterThan(10);
	expect(tally.outages).toBeGreaterThan(20);
	expect(tally.limited).toBeGreaterThan(20);
	expect(tally.uncertain).toBeGreaterThan(20);
	expect(tally.refunds).toBeGreaterThan(20);
});
