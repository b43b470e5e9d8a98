import fc from 'fast-check';

import { gated, HOUR, itemsOf, timesOf } from './gated';

describe('several requests without a slot', () => {
	it.each([0, 300])('are served in order of arrival: %i ms per response', async (latencyMs) => {
		const { time, pass, end, passed } = gated(() => 2, latencyMs);
		const all = Array.from({ length: 8 }, async (_, item) => await pass(item));
		for (let n = 1; n <= 6; n++) time.at(n * 1000 + 100, end);
		await time.run(Promise.all(all));
		expect(itemsOf(passed)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
	});

	it('probe one at a time, not all repeatedly', async () => {
		const { time, pass, asked } = gated(() => 0, 300);
		await time.run(Promise.allSettled(Array.from({ length: 50 }, async (_, n) => pass(n, 60_000))));
		const later = timesOf(asked).filter((at) => at > 0);
		expect(later.length).toBeLessThan(20);
		for (const [index, at] of later.slice(1).entries()) {
			expect(at - later[index]).toBeGreaterThan(300);
		}
	});

	it('take every slot that our own generations free, each at once', async () => {
		const { time, pass, end, passed } = gated(() => 3);
		const all = Array.from({ length: 9 }, async (_, item) => await pass(item));
		time.at(10_000, () => [end, end, end].forEach((one) => one()));
		time.at(20_000, () => [end, end, end].forEach((one) => one()));
		await time.run(Promise.all(all));
		expect(timesOf(passed)).toEqual([0, 0, 0, 10_000, 10_000, 10_000, 20_000, 20_000, 20_000]);
	});

	it('take all slots that others have freed at once, as soon as one is found', async () => {
		let free = 1;
		const { time, pass, passed } = gated(() => free);
		const all = Array.from({ length: 6 }, async (_, item) => await pass(item));
		time.at(5000, () => (free = 6));
		await time.run(Promise.all(all));
		const [, ...later] = timesOf(passed);
		expect(new Set(later).size).toBe(1);
	});

	it('probe for two more slots after one that others have freed, not for all at once', async () => {
		let free = 0;
		const { time, pass, asked, passed } = gated(() => free, 100);
		const all = Promise.all(Array.from({ length: 10 }, async (_, item) => await pass(item)));
		time.at(20_000, () => (free = 1));
		time.at(60_000, () => (free = 10));
		await time.run(all);
		const [{ at: found }] = passed;
		const next = asked.filter(({ at }) => at > found && at <= found + 500);
		expect(next).toHaveLength(2);
	});

	it('check for free slots soon after one of our own generations has ended', async () => {
		let free = 1;
		const { time, pass, end, asked, passed } = gated(() => free);
		const all = Promise.all(Array.from({ length: 3 }, async (_, item) => await pass(item)));
		time.at(60_000, () => {
			const last = asked.at(-1)?.at ?? 0;
			time.at(last + 5_100, () => {
				free = 2;
				end();
			});
		});
		await time.run(all);
		const [, second, third] = timesOf(passed);
		expect(third - second).toBe(1_000);
	});

	it('all fail at once when the gate is closed', async () => {
		const { time, gate, slots, pass } = gated(() => 0, 100);
		const passing = Array.from({ length: 5 }, async (_, item) => await pass(item, 30_000));
		const given = Promise.allSettled(passing);
		const reason = new Error('the key was refused');
		const learned: Array<{ error: unknown; at: number }> = [];
		const standing = Array.from({ length: 3 }, async () => {
			await time.sleep(8_000);
			const waits = slots.acquire(gate, HOUR);
			await waits.catch((error: unknown) => learned.push({ error, at: time.now() }));
		});
		time.at(9_000, () => gate.close(reason));
		await time.run(Promise.all(standing));
		expect(learned).toEqual(Array(3).fill({ error: reason, at: 9_000 }));
		await expect(slots.acquire(gate, HOUR)).rejects.toBe(reason);
		void given;
	});

	it('all get a slot, in order, for any load by others on the account', async () => {
		const others = fc.array(fc.nat(4), { minLength: 1, maxLength: 10 });
		await fc.assert(
			fc.asyncProperty(others, fc.integer({ min: 1, max: 12 }), async (taken, items) => {
				const { time, pass, end, passed } = gated(() => {
					const now = Math.floor(time.now() / 7000);
					return 4 - (now < taken.length ? taken[now] : 0);
				});
				const all = Array.from({ length: items }, async (_, item) => {
					await pass(item);
					await time.sleep(9000);
					end();
				});
				await time.run(Promise.all(all));
				expect([...itemsOf(passed)].sort((one, other) => one - other)).toEqual(
					Array.from({ length: items }, (_, item) => item),
				);
			}),
		);
	});
});
