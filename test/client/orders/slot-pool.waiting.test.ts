import fc from 'fast-check';

import { CancelledError, errorFromResponse, GenerationError } from '../../../client/api/errors';
import { SlotPool, StepGate } from '../../../client/orders/slot-pool';
import { refusal } from '../../support/answers';
import { VirtualTime } from '../../support/virtual-time';
import { gated, HOUR, itemsOf, passThrough, refusedNow, timesOf } from './gated';

describe('while the service has slots', () => {
	it('no request waits', async () => {
		const time = new VirtualTime(0);
		const { signal } = new AbortController();
		const slots = new SlotPool({ clock: time, random: () => 0 });
		const gate = new StepGate(signal);
		const create = async () => {
			await time.sleep(100);
			return time.now();
		};
		const made = Array.from(
			{ length: 5 },
			async () => await passThrough(gate, slots, create, HOUR),
		);
		expect(await time.run(Promise.all(made))).toEqual([100, 100, 100, 100, 100]);
		expect(gate.waitedMs).toBe(0);
	});

	it('an error is passed on unchanged', async () => {
		const { time, gate, slots } = gated(() => 1);
		const error = errorFromResponse(refusal(422, 'unsupported_parameter'), true);
		const task = passThrough(gate, slots, async () => await Promise.reject(error), HOUR);
		await expect(time.run(task)).rejects.toBe(error);
	});

	it('the daily limit of a connected app is not a wait for a slot', async () => {
		const { time, gate, slots } = gated(() => 1);
		let asked = 0;
		const task = passThrough(
			gate,
			slots,
			async () => {
				asked++;
				throw errorFromResponse(refusal(429, 'CONNECTION_LIMIT_REACHED'), true);
			},
			HOUR,
		);
		await expect(time.run(task)).rejects.toMatchObject({ code: 'CONNECTION_LIMIT_REACHED' });
		expect([asked, time.now()]).toEqual([1, 0]);
	});
});

describe('a creating request that found no slot', () => {
	it('is retried at the moment when one of our own generations ends', async () => {
		const { time, pass, end, asked } = gated(() => 1);
		await time.run(pass(0));
		time.at(700, end);
		expect(await time.run(pass(1))).toBe(1);
		expect(timesOf(asked)).toEqual([0, 0, 700]);
	});

	it('is retried with growing pauses if none of our own generations ends', async () => {
		let free = 0;
		const { time, pass, asked } = gated(() => free);
		time.at(200_000, () => (free = 1));
		await time.run(pass(0));
		const pauses = timesOf(asked)
			.slice(1)
			.map((at, index) => at - asked[index].at);
		expect(pauses.slice(0, 3)).toEqual([1000, 2000, 4000]);
		expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1000);
		expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);
	});

	it('is sent at most half a minute after a slot is free', async () => {
		await fc.assert(
			fc.asyncProperty(fc.nat(100_000), async (freeAt) => {
				const { time, pass } = gated(() => (time.now() >= freeAt ? 1 : 0));
				await time.run(pass(0));
				expect(time.now() - freeAt).toBeLessThanOrEqual(30_000);
			}),
			{ numRuns: 30 },
		);
	});

	it('fails only after its timeout, and the error says how many were running and allowed', async () => {
		const { time, pass, asked } = gated(() => 0);
		const error: unknown = await time.run(pass(0, 60_000).catch((thrown: unknown) => thrown));
		expect(error).toBeInstanceOf(GenerationError);
		expect(error).toMatchObject({
			code: 'CONCURRENCY_LIMIT_REACHED',
			status: 429,
			charge: 'none',
			retry: 'never',
		});
		const { message, description } = error as GenerationError;
		expect(message).toBe('No free slot: 12 generations are running, and the plan allows 10');
		expect(description).toMatch(/within 60 s.*was not sent/);
		expect(time.now()).toBe(60_000);
		expect(asked.length).toBeGreaterThan(4);
	});

	it('fails later if another item has gained a slot in the meantime', async () => {
		const { time, pass } = gated(() => (time.now() >= 50_000 ? 1 : 0));
		const others = Promise.allSettled([pass(0, 60_000), pass(1, 60_000)]);
		const [first, second] = await time.run(others);
		expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
		expect(time.now()).toBeGreaterThanOrEqual(110_000);
	});

	it('stops waiting when the step ends, and nothing is sent afterwards', async () => {
		const { time, stop, pass, asked } = gated(() => 0);
		time.at(10_000, () => stop.abort());
		const ended = await time.run(Promise.allSettled([pass(0), pass(1), pass(2)]));
		for (const { status, ...rest } of ended) {
			expect(status).toBe('rejected');
			expect(rest).toMatchObject({ reason: expect.any(CancelledError) as CancelledError });
		}
		expect(time.now()).toBe(10_000);
		expect(Math.max(...timesOf(asked))).toBeLessThan(10_000);
	});

	it('does not block the others when it fails permanently', async () => {
		let free = 0;
		const { time, gate, slots, pass, passed } = gated(() => free);
		const lost = passThrough(
			gate,
			slots,
			async () => {
				if (free === 0) throw refusedNow();
				throw new TypeError('A mistake of ours');
			},
			HOUR,
		);
		time.at(5000, () => (free = 1));
		const [failed] = await time.run(Promise.allSettled([lost, pass(1)]));
		expect(failed.status).toBe('rejected');
		expect(itemsOf(passed)).toEqual([1]);
	});

	it('probes more often the longer there is no slot, but not more often than the poll interval', async () => {
		const { time, pass, asked } = gated(() => 0);
		await time.run(pass(0, 600_000).catch(() => {}));
		const times = timesOf(asked);
		const pauseAt = (at: number) => {
			const next = times.findIndex((each) => each > at);
			return times[next] - times[next - 1];
		};
		// With this jitter, a pause is half of the maximum.
		expect([30_000, 120_000, 240_000, 500_000].map(pauseAt)).toEqual([
			5000,
			expect.closeTo(2500, -2),
			1500,
			1500,
		]);
	});

	it('probes less often again after it has gained a slot', async () => {
		let free = 0;
		const { time, pass, asked } = gated(() => free);
		time.at(300_000, () => (free = 1));
		await time.run(Promise.all([pass(0), pass(1, 320_000).catch(() => {})]));
		const times = timesOf(asked);
		const longestPause = (from: number, to: number) =>
			Math.max(...times.flatMap((at, n) => (at > from && at < to ? [at - times[n - 1]] : [])));
		expect(longestPause(220_000, 300_000)).toBeCloseTo(1500);
		expect(longestPause(305_000, 400_000)).toBeCloseTo(5000);
	});

	it('records how long the step waited for slots', async () => {
		const { time, gate, pass, end } = gated(() => 1);
		await time.run(pass(0));
		time.at(2500, end);
		await time.run(pass(1));
		expect(gate.waitedMs).toBe(2500);
	});
});
