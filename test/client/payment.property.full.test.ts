import fc, { type Arbitrary } from 'fast-check';

import { anySchedule, calmSchedule } from './simulation/arbitrary';
import { play, playCalm } from './simulation/play';
import { tallied, type Tally } from './simulation/tally';
import type { Schedule } from './simulation/schedule';
import type { World } from './simulation/world';

/**
 * Proves that no item is charged twice, and that no charged generation is lost: the client runs against the sandbox's
 * service in virtual time, through random faults, stops and retries, and the service's own records are the reference.
 *
 * The schedules are the same in each run, so that a failure is caused by a change. The first of them run here, where
 * coverage is measured. `npm test` also plays ten thousand, including these. `npm run proof -- 100000` plays more and
 * different ones. `saboteurs.full.test.ts` shows that each promise is really checked, by breaking them one by one.
 */
const SEED = 20_260_101;
const STORMY = 100;
const CALM = 10;

async function holds(
	schedules: Arbitrary<Schedule>,
	numRuns: number,
	playOne: (schedule: Schedule) => Promise<World>,
): Promise<Tally> {
	const { tally, property } = tallied(schedules, playOne);
	await fc.assert(property, { numRuns, seed: SEED, includeErrorInReport: true });
	return tally;
}

it('pays once and loses nothing, for any failure', async () => {
	const tally = await holds(anySchedule, STORMY, play);
	expect(tally.schedules).toBe(STORMY);
	// Check that the schedules exercised every failure.
	expect(tally.tries / STORMY).toBeGreaterThan(2.5);
	expect(tally.stops).toBeGreaterThan(STORMY / 10);
	expect(tally.lost).toBeGreaterThan(STORMY / 4);
	expect(tally.refunds).toBeGreaterThan(STORMY / 4);
	expect(tally.slotRefusals).toBeGreaterThan(STORMY / 2);
});

it('creates everything exactly once if nothing fails', async () => {
	const tally = await holds(calmSchedule, CALM, playCalm);
	expect(tally).toMatchObject({ schedules: CALM, lost: 0, refunds: 0, stops: 0 });
});
