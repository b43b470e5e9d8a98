import { randomUUID } from 'node:crypto';

import fc from 'fast-check';

import { toResult } from '../../../client/async';
import { seededRandom } from '../../../sandbox/basics/random';
import { SlotPool, StepGate } from '../../../client/orders/slot-pool';
import { VirtualTime } from '../../support/virtual-time';
import { HOUR, passThrough, refusedNow } from './gated';

/** Creates steps that share a pool for an account with this limit. */
function sharing(limit: () => number, random = () => 0) {
	const time = new VirtualTime(0);
	const slots = new SlotPool({ clock: time, random });
	let running = 0;
	const asked: number[] = [];
	const made: Array<{ step: string; at: number }> = [];
	const step = (name: string) => {
		const stop = new AbortController();
		const gate = new StepGate(stop.signal);
		/** Creates a generation that takes this long. */
		const make = async (ms: number, timeoutMs = HOUR) => {
			await passThrough(
				gate,
				slots,
				async () => {
					asked.push(time.now());
					await time.sleep(100);
					if (running >= limit()) throw refusedNow();
					running++;
					made.push({ step: name, at: time.now() });
				},
				timeoutMs,
			);
			await time.sleep(ms);
			running--;
			slots.release(randomUUID());
		};
		/** Creates a batch with this many generations at a time. */
		const batch = async (items: number, width: number, ms: number) => {
			let left = items;
			const work = async () => {
				while (left-- > 0) await make(ms);
			};
			await Promise.all(Array.from({ length: width }, work));
		};
		return { stop, gate, make, batch };
	};
	return { time, slots, step, asked, made };
}

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

describe('steps that share the slots of an account', () => {
	it('form one queue: a newcomer during a batch is served after those who came before it', async () => {
		const { time, step, made } = sharing(() => 4);
		const [first, second] = [step('batch'), step('one')];
		const one = async () => {
			await time.sleep(20_000);
			await second.make(5_000);
		};
		await time.run(Promise.all([first.batch(60, 8, 5_000), one()]));
		const [{ at }] = made.filter((each) => each.step === 'one');
		expect(at).toBeLessThanOrEqual(20_000 + 2 * 5_500);
	});

	it('probe for slots freed by others as a single client', async () => {
		const refusals = async (count: number) => {
			const { time, step, asked } = sharing(() => (time.now() < 300_000 ? 0 : 100));
			const all = Array.from({ length: count }, async (_, n) => await step(`${n}`).make(1_000));
			await time.run(Promise.all(all));
			// At the start, every step sends its request.
			return asked.filter((at) => at > 0 && at < 300_000).length;
		};
		expect(await refusals(20)).toBe(await refusals(1));
	});

	it('take the slots that the generations of any of them free', async () => {
		const { time, step, made } = sharing(() => 3);
		const [first, second] = [step('first'), step('second')];
		await time.run(Promise.all([first.batch(3, 3, 10_000), second.batch(3, 3, 10_000)]));
		expect(made.filter((each) => each.step === 'second').every(({ at }) => at < 11_000)).toBe(true);
	});

	it('are stopped and closed independently', async () => {
		const { time, step, made } = sharing(() => 1);
		const [stopped, closed, other] = [step('stopped'), step('closed'), step('other')];
		const reason = new Error('the key was refused');
		const all = [stopped.batch(5, 5, 3_000), closed.batch(5, 5, 3_000), other.batch(5, 5, 3_000)];
		time.at(4_000, () => stopped.stop.abort());
		time.at(4_000, () => closed.gate.close(reason));
		const [one, two] = await time.run(Promise.allSettled(all));
		expect(one).toMatchObject({ status: 'rejected', reason: { name: 'CancelledError' } });
		expect(two).toMatchObject({ status: 'rejected', reason });
		expect(made.filter((each) => each.step === 'other')).toHaveLength(5);
	});

	it('have independent timeouts', async () => {
		const { time, step } = sharing(() => 0);
		const [first, second] = [step('first'), step('second')];
		const ends: number[] = [];
		const give = async (who: typeof first, after: number) => {
			await time.sleep(after);
			await who.make(1_000, 60_000).catch(() => ends.push(time.now() - after));
		};
		await time.run(Promise.all([give(first, 0), give(second, 50_000)]));
		expect(ends).toHaveLength(2);
		expect(ends[1]).toBeGreaterThanOrEqual(60_000);
	});

	it('wait only a few seconds for a response that does not arrive', async () => {
		const { time, slots, step, made } = sharing(() => (time.now() < 5_000 ? 0 : 9));
		const hangs = step('hangs');
		const hang = async () => {
			const permit = await slots.acquire(hangs.gate, HOUR, -1);
			await time.sleep(60_000);
			permit('unused');
		};
		const others = Array.from({ length: 3 }, async (_, n) => await step(`${n}`).make(1_000));
		time.at(4_000, () => void hang());
		await time.run(Promise.all(others));
		expect(Math.max(...made.map(({ at }) => at))).toBeLessThan(25_000);
	});

	it('send their requests at once if the pool had slots for the whole queue', async () => {
		let taken = 12;
		const { time, step, made } = sharing(() => 12 - taken);
		const [first, late] = [step('first'), step('late')];
		time.at(5_000, () => (taken = 0));
		await time.run(first.batch(2, 2, 1_000));
		const from = time.now();
		await time.run(late.batch(12, 12, 1_000));
		const times = made.filter((each) => each.step === 'late').map(({ at }) => at - from);
		expect(times).toEqual(Array(12).fill(100));
	});

	it('all get a slot, for any load by others on the account and any stop', async () => {
		const schedule = fc.record({
			steps: fc.array(
				fc.record({ items: fc.integer({ min: 1, max: 8 }), stopAt: fc.nat(60_000) }),
				{
					minLength: 2,
					maxLength: 5,
				},
			),
			taken: fc.array(fc.nat(3), { minLength: 1, maxLength: 10 }),
			seed: fc.nat(1_000_000),
		});
		await fc.assert(
			fc.asyncProperty(schedule, async ({ steps, taken, seed }) => {
				const { time, step, made } = sharing(
					() => 3 - (taken[Math.floor(time.now() / 7_000)] ?? 0),
					seededRandom(seed),
				);
				const all = steps.map(async ({ items, stopAt }, index) => {
					const own = step(`${index}`);
					if (index > 0) time.at(stopAt, () => own.stop.abort());
					await own.batch(items, 4, 3_000);
				});
				await time.run(Promise.allSettled(all));
				// The first step is never stopped.
				expect(made.filter((each) => each.step === '0')).toHaveLength(steps[0].items);
			}),
		);
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
