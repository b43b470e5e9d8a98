import fc, { type Arbitrary } from 'fast-check';

import type { Schedule } from './schedule';
import type { World } from './world';

/** Counts what happened in many schedules, to check that they were not free of failures. */
export class Tally {
	schedules = 0;
	tries = 0;
	/** Tries that the user stopped. */
	stops = 0;
	requests = 0;
	/** Creating requests refused because no slot was free. */
	slotRefusals = 0;
	charges = 0;
	/** Charges whose response never reached the client. */
	lost = 0;
	/** Charges refunded because the generation failed. */
	refunds = 0;

	add(world: World): void {
		const { charges, service } = world;
		this.schedules++;
		this.tries += world.tries;
		this.stops += world.stops;
		this.requests += service.requests.all.length;
		this.slotRefusals += service.requests.all.filter(({ status }) => status === 429).length;
		this.charges += charges.length;
		this.lost += charges.filter(({ known }) => !known).length;
		this.refunds += charges.length - world.live().length;
	}

	toString(): string {
		const { tries, stops, requests, charges, lost, refunds } = this;
		return `${tries} tries, ${stops} of them stopped; ${requests} requests; ${charges} generations, ${lost} with a lost answer and ${refunds} refunded`;
	}
}

/** Plays each schedule, and counts what happened. */
export function tallied(
	schedules: Arbitrary<Schedule>,
	playOne: (schedule: Schedule) => Promise<World>,
) {
	const tally = new Tally();
	const property = fc.asyncProperty(schedules, async (schedule) => {
		tally.add(await playOne(schedule));
	});
	return { tally, property };
}
