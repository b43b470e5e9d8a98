import fc from 'fast-check';

import { playAsleep } from './play';
import { sleepSchedule } from './schedule';
import { SleepTally } from './tally';

/**
 * Extends the proof of payments to steps that sleep: the nodes run in a simulated n8n, which is killed at
 * any moment, while the service and the table fail and the user stops executions. `npm run proof` plays more schedules.
 */

it('no item of a step that sleeps is charged twice or lost, no matter when n8n is killed', async () => {
	const tally = new SleepTally();
	const property = fc.asyncProperty(sleepSchedule, async (schedule) => {
		tally.add(await playAsleep(schedule));
	});
	await fc.assert(property, { numRuns: 250, seed: 20_260_101, includeErrorInReport: true });
	// Check that the schedules exercised every failure: about four fifths of what this seed plays.
	const [step, guard, waves, results, nothing] = tally.deaths;
	expect(Math.min(step, guard, results)).toBeGreaterThan(13);
	expect(Math.min(waves, nothing)).toBeGreaterThan(25);
	expect(tally.wentOn).toBeGreaterThan(20);
	expect(tally.waits).toBeGreaterThan(48);
	expect(tally.stops).toBeGreaterThan(13);
	expect(tally.outages).toBeGreaterThan(28);
	expect(tally.limited).toBeGreaterThan(23);
	expect(tally.uncertain).toBeGreaterThan(16);
	expect(tally.refunds).toBeGreaterThan(300);
});
