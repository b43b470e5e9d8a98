import fc from 'fast-check';

import { playKeyed } from './simulation/keyed';
import { keyedSchedule } from './simulation/keyed-schedule';
import { KeyedTally } from './simulation/keyed-tally';

/** The proof of `payment.property.test.ts` for what outlives its process. More of it: `test/client/simulation/check.ts`. */

it('pays once a key, whatever process dies, whoever else asks, and whatever the table does', async () => {
	const tally = new KeyedTally();
	const property = fc.asyncProperty(keyedSchedule, async (schedule) => {
		tally.add(await playKeyed(schedule));
	});
	await fc.assert(property, { numRuns: 200, seed: 20_260_101, includeErrorInReport: true });
	// What was promised was put to the test.
	expect(tally.deaths).toBeGreaterThan(100);
	expect(tally.lost).toBeGreaterThan(20);
	expect(tally.refunds).toBeGreaterThan(20);
});
