import fc from 'fast-check';

import { playKeyed } from './simulation/keyed';
import { keyedSchedule } from './simulation/keyed-schedule';
import { KeyedTally } from './simulation/keyed-tally';

/**
 * Extends the proof of `payment.property.full.test.ts` to keys that outlive a process. Processes die, pause and time out,
 * their clocks are wrong, and a user edits the table meanwhile. Some items have no key, some executions call the step
 * twice, and some steps end while items wait for a slot. `npm run proof` plays more schedules.
 */

it('each key is charged once, for any failure of processes and of the table', async () => {
	const tally = new KeyedTally();
	const property = fc.asyncProperty(keyedSchedule, async (schedule) => {
		tally.add(await playKeyed(schedule));
	});
	await fc.assert(property, { numRuns: 200, seed: 20_260_101, includeErrorInReport: true });
	// Check that the schedules exercised every failure.
	expect(tally.deaths).toBeGreaterThan(100);
	expect(tally.timeouts).toBeGreaterThan(20);
	expect(tally.pauses).toBeGreaterThan(20);
	expect(tally.deeds).toBeGreaterThan(20);
	expect(tally.lost).toBeGreaterThan(20);
	expect(tally.refunds).toBeGreaterThan(20);
	expect(tally.unkeyed).toBeGreaterThan(20);
	expect(tally.secondCalls).toBeGreaterThan(20);
	expect(tally.brokenDownloads).toBeGreaterThan(20);
});
