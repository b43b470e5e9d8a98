import fc from 'fast-check';

import { playKeyed } from './simulation/keyed';
import { keyedSchedule } from './simulation/keyed-schedule';
import { KeyedTally } from './simulation/keyed-tally';

/**
 * The proof of `payment.property.test.ts` for what outlives its process. Processes die, pause and time out, their clocks
 * are wrong, and a user edits the table meanwhile. More of it: `npm run proof`.
 */

it('each key is paid once, whatever happens to the processes and to the table', async () => {
	const tally = new KeyedTally();
	const property = fc.asyncProperty(keyedSchedule, async (schedule) => {
		tally.add(await playKeyed(schedule));
	});
	await fc.assert(property, { numRuns: 200, seed: 20_260_101, includeErrorInReport: true });
	// What was promised was put to the test.
	expect(tally.deaths).toBeGreaterThan(100);
	expect(tally.timeouts).toBeGreaterThan(20);
	expect(tally.pauses).toBeGreaterThan(20);
	expect(tally.deeds).toBeGreaterThan(20);
	expect(tally.lost).toBeGreaterThan(20);
	expect(tally.refunds).toBeGreaterThan(20);
});
