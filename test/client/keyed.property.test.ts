import fc from 'fast-check';

import { playKeyed } from './simulation/keyed';
import { keyedSchedule, type KeyedSchedule } from './simulation/keyed-schedule';
import { KeyedTally } from './simulation/keyed-tally';

/** The proof of `payment.property.test.ts` for what outlives its process. More of it: `test/client/simulation/check.ts`. */

jest.setTimeout(600_000);

/** Found once among a hundred thousand: a twin read the table while the id of the other was on its way into it. */
const twinsAfterAFailure: KeyedSchedule = {
	keys: [2, 2],
	concurrency: 1,
	seconds: 1,
	reusesIds: false,
	tableMs: 400,
	tableFails: 0,
	lost: 0,
	refused: 0,
	fails: 0.1,
	executions: [
		{
			startMs: 0,
			diesAfterMs: null,
			stopsAfterMs: 1967,
			tries: 1,
			maxConcurrent: 2,
			stopOnError: false,
			onUncertainCharge: 'error',
		},
	],
	seed: 996_588,
};

it('hands one generation to twins, also where they make it anew at one moment', async () => {
	await playKeyed(twinsAfterAFailure);
});

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
