import { SlotPool } from '../../../client/orders/slot-pool';
import { wallClock } from './clock';
import { CREDENTIAL } from './credential';
import type { Step } from '../step';

/** By id of the credential: the slots for concurrent generations, and how many steps of this process use them now. */
const shared = new Map<string, { slots: SlotPool; steps: number }>();

/**
 * Runs a step with the slots of its credential. All steps of this process with that credential wait for free slots in
 * one first-come, first-served queue.
 */
export async function withSlots<T>(
	step: Pick<Step, 'node'>,
	run: (slots: SlotPool) => Promise<T>,
): Promise<T> {
	const account = step.node.credentials?.[CREDENTIAL]?.id ?? null;
	const own = { slots: new SlotPool({ clock: wallClock, random: Math.random }), steps: 0 };
	if (account === null) return await run(own.slots);
	const used = shared.get(account) ?? own;
	shared.set(account, used);
	used.steps++;
	try {
		return await run(used.slots);
	} finally {
		if (--used.steps === 0) shared.delete(account);
	}
}
