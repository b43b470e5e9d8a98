import { errorFromResponse } from '../../../client/api/errors';
import { toResult } from '../../../client/async';
import { SlotPool, StepGate } from '../../../client/orders/slot-pool';
import { noSlot, retryAfter } from '../../support/answers';
import { VirtualTime } from '../../support/virtual-time';

const HOUR = 3_600_000;
const refusedNow = () => errorFromResponse(noSlot(12, 10), true);

describe('a generation that ends', () => {
	/** Returns the SlotPool of a full account, and a function that counts the slots known to be free. */
	async function fullAccount() {
		const slots = new SlotPool({ clock: new VirtualTime(0), random: () => 0 });
		const gate = new StepGate(new AbortController().signal);
		(await slots.acquire(gate, HOUR))(refusedNow());
		const free = async () => {
			let count = 0;
			while ((await toResult(async () => await slots.acquire(gate, 0))).ok) count++;
			return count;
		};
		return { slots, free };
	}

	it('frees one slot', async () => {
		const { slots, free } = await fullAccount();
		for (let times = 0; times < 2; times++) slots.release();
		expect(await free()).toBe(2);
		expect(await free()).toBe(0);
	});
});

it('a full account that asks to wait is asked for no other slot before, also if a speculative request succeeds', async () => {
	const time = new VirtualTime(0);
	const slots = new SlotPool({ clock: time, random: () => 0 });
	const gate = new StepGate(new AbortController().signal);
	const acquire = async () => await slots.acquire(gate, HOUR);
	(await acquire())(refusedNow());
	const speculative = await time.run(acquire());
	slots.release();
	const known = await acquire();
	known(errorFromResponse(retryAfter(5, noSlot(12, 10)), true));
	speculative('granted');
	const refusedAt = time.now();
	await time.run(acquire());
	expect(time.now() - refusedAt).toBe(5_000);
});

it('after a sleep, an item waits for as long as no request has been refused, even beside one that takes long', async () => {
	const time = new VirtualTime(0);
	const slots = new SlotPool({ clock: time, random: () => 0 });
	const gate = new StepGate(new AbortController().signal);
	slots.isLimited = true;
	slots.release();
	await slots.acquire(gate, 5_000);
	await slots.acquire(gate, 5_000);
	const waiting = slots.acquire(gate, 5_000);
	time.at(7_000, () => slots.release());
	await time.run(waiting);
	expect(time.now()).toBe(7_000);
});
