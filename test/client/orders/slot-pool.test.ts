import { errorFromResponse } from '../../../client/api/errors';
import { toResult } from '../../../client/async';
import { SlotPool, StepGate } from '../../../client/orders/slot-pool';
import { noSlot } from '../../support/answers';
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

	it('frees one slot, however many executions see it end', async () => {
		const { slots, free } = await fullAccount();
		for (const id of ['a', 'b', 'a', 'a', 'b']) slots.release(id);
		expect(await free()).toBe(2);
		slots.release('a');
		expect(await free()).toBe(0);
	});

	it('is remembered until 10,000 others have ended, so that memory is bounded', async () => {
		const { slots, free } = await fullAccount();
		for (let id = 0; id <= 10_000; id++) slots.release(String(id));
		expect(await free()).toBe(10_001);
		slots.release('1');
		expect(await free()).toBe(0);
		slots.release('0');
		expect(await free()).toBe(1);
	});
});

describe('the request after a backoff', () => {
	/** Returns a full account whose speculative request is in flight. */
	async function speculating() {
		const time = new VirtualTime(0);
		const slots = new SlotPool({ clock: time, random: () => 0 });
		const gate = new StepGate(new AbortController().signal);
		const early = await Promise.all([1, 2].map(async () => await slots.acquire(gate, HOUR)));
		early[0](refusedNow());
		let isSpeculating = false;
		void slots.acquire(gate, HOUR).then(() => (isSpeculating = true));
		await time.run(time.sleep(2_000));
		expect(isSpeculating).toBe(true);
		let others = 0;
		void slots.acquire(gate, HOUR).then(() => others++);
		return { time, early, others: () => others };
	}

	it('stays the only one if a request that was sent before is refused meanwhile', async () => {
		const { time, early, others } = await speculating();
		early[1](refusedNow());
		await time.run(time.sleep(5_000));
		expect(others()).toBe(0);
	});

	it('is followed by another one after ten seconds, if its response does not come', async () => {
		const { time, others } = await speculating();
		await time.run(time.sleep(10_000));
		expect(others()).toBe(1);
	});
});
