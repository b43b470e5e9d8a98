import { idOf, tellOutcome, type Ended } from './judge';
import type { World } from './world';

/** The state before a try. */
export interface Before {
	/** The id of each item's generation that is charged and known. */
	paidBefore: Array<string | undefined>;
	/** Items of which it is not known whether they were charged. */
	openBefore: Set<number>;
}

export function before(world: World): Before {
	const known = world.live().filter((charge) => charge.known);
	return {
		paidBefore: world.schedule.items.map((_, item) => known.find((one) => one.item === item)?.id),
		openBefore: new Set(world.openItems),
	};
}

/**
 * After any history, an attempt without faults ends with each item done or explained, and reuses existing generations.
 */
export function judgeCalm(ended: Ended & Before): void {
	const { world, plan, transport, result, paidBefore, openBefore } = ended;
	const live = new Set(world.live().map(({ id }) => id));
	result.outcomes.forEach((outcome, item) => {
		const blame = (text: string) => world.blame(`Item ${item} (${tellOutcome(outcome)}): ${text}`);
		const existing = paidBefore[item];
		const failed = existing !== undefined && !live.has(existing);
		if (existing !== undefined && !failed) {
			if (transport.traffic.get(item)?.creates) blame('made although it exists');
			if (idOf(outcome) !== existing) blame('what exists was not taken up');
		}
		if (outcome.kind === 'done') return;
		if (outcome.kind === 'stopped') return blame('it ended without a reason');
		const { code } = outcome.error;
		const uncertain = plan.settings.onUncertainCharge === 'error' && openBefore.has(item);
		const explained =
			(code === 'generation_failed' && failed) ||
			(code === 'generation_ended' && existing !== undefined) ||
			(code === 'uncertain_charge' && uncertain);
		if (!explained) blame('it failed in calm weather');
	});
	world.assertKept();
}

/**
 * Checks that each item is done at the end and charged once, apart from charges that were lost before a resubmission.
 */
export function judgeEnd(world: World): void {
	const live = world.live();
	world.schedule.items.forEach((_, item) => {
		const own = live.filter((charge) => charge.item === item);
		const { length } = own.filter(({ known }) => known);
		if (length !== 1) world.blame(`Item ${item} has ${length} generations in the end`);
		if (own.some(({ known, replaced }) => !known && !replaced)) {
			world.blame(`Item ${item} has a lost generation that nobody asked to replace`);
		}
	});
	world.assertKept();
}
