import fc from 'fast-check';

import { keyedSchedule, playKeyed } from './simulation/keyed';

/** The proof of `payment.property.test.ts` for what outlives its process. More of it: `test/client/simulation/check.ts`. */

jest.setTimeout(600_000);

it('pays once a key, whatever process dies, whoever else asks, and whatever the table does', async () => {
	let deaths = 0;
	const property = fc.asyncProperty(keyedSchedule, async (schedule) => {
		deaths += (await playKeyed(schedule)).deaths;
	});
	await fc.assert(property, { numRuns: 300, seed: 20_260_101, includeErrorInReport: true });
	expect(deaths).toBeGreaterThan(50);
});
