import fc from 'fast-check';

import { deadline, limit, withLock, withTimeout } from '../../client/async';
import { firstWords } from '../../client/text';
import { hanging } from '../support/fake-service';
import { VirtualTime } from '../support/virtual-time';

const { signal: never } = new AbortController();

/** A clock whose process is paused for `pauseMs` during its first sleep: the timer fires that much late. */
function pausedFor(pauseMs: number) {
	const time = new VirtualTime(0);
	const slept: number[] = [];
	const clock = {
		now: () => time.now(),
		sleep: async (ms: number, signal?: AbortSignal) => {
			slept.push(ms);
			await time.sleep(slept.length === 1 ? ms + pauseMs : ms, signal);
		},
	};
	return { clock, slept, time };
}

describe('a process that was paused', () => {
	it.each([
		[0, [60_000]],
		[1_000, [60_000]],
		[65_000, [60_000, 5_000]],
	])('has time to read the responses that arrived: %d ms late', async (late, sleeps) => {
		const { clock, slept, time } = pausedFor(late);
		await time.run(deadline(clock, 60_000, never));
		expect(slept).toEqual(sleeps);
	});

	it('reads a response although the pause was longer than the timeout', async () => {
		const { clock, time } = pausedFor(65_000);
		// The response arrived long before the timer fired, and is read after it.
		const task = async () => await time.sleep(60_000 + 65_000 + 10).then(() => 'answer');
		expect(await time.run(withTimeout(clock, 60_000, never, task))).toBe('answer');
	});
});

describe('a task with a timeout', () => {
	const time = new VirtualTime();

	it('is aborted and abandoned at the timeout, even if it ignores its signal', async () => {
		let told: AbortSignal | undefined;
		const before = time.now();
		const run = withTimeout(time, 1000, never, async (signal) => {
			told = signal;
			return await hanging();
		});
		expect(await time.run(run)).toBeNull();
		expect([told?.aborted, time.now() - before]).toEqual([true, 1000]);
	});

	it('is not even begun if no time is left', async () => {
		const task = jest.fn(hanging);
		expect(await time.run(withTimeout(time, 0, never, task))).toBeNull();
		expect(task).not.toHaveBeenCalled();
	});
});

it('a limit never runs more tasks at once, starts them in order, and leaves no slot free', async () => {
	const plans = fc.array(fc.record({ ms: fc.nat(50), fails: fc.boolean() }), { maxLength: 30 });
	await fc.assert(
		fc.asyncProperty(fc.integer({ min: 1, max: 6 }), plans, async (most, tasks) => {
			const time = new VirtualTime(0);
			const run = limit(most);
			const begunAt: number[] = [];
			const all = tasks.map(async ({ ms, fails }, index) =>
				run(async () => {
					begunAt[index] = time.now();
					await time.sleep(ms);
					if (fails) throw new Error(`Task ${index}`);
				}),
			);
			await time.run(Promise.allSettled(all));
			const freeAt = Array.from({ length: most }, () => 0);
			const wanted = tasks.map(({ ms }) => {
				const place = freeAt.indexOf(Math.min(...freeAt));
				freeAt[place] += ms;
				return freeAt[place] - ms;
			});
			expect(begunAt).toEqual(wanted);
		}),
	);
});

it('tasks with a lock run one after the other, also after one that failed', async () => {
	const time = new VirtualTime(0);
	const record = {};
	const begun: Array<[string, number]> = [];
	const task = (name: string) => async () => {
		begun.push([name, time.now()]);
		await time.sleep(10);
		if (name === 'fails') throw new Error('refused');
	};
	const all = [
		...['fails', 'second'].map(async (name) => await withLock(record, 'key', task(name))),
		withLock(record, 'other', task('other')),
	];
	const ended = await time.run(Promise.allSettled(all));
	expect(ended.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
	expect(begun.sort()).toEqual([
		['fails', 0],
		['other', 0],
		['second', 10],
	]);
});

it('a text of another system is quoted without keys, markup or control characters', () => {
	const key = `svc_live_${'0123456789abcdef'.repeat(2)}01234567`;
	fc.assert(
		fc.property(fc.string(), fc.string(), (before, after) => {
			const words = firstWords(`${before}${key}<b>${after}`);
			expect(words).not.toMatch(/svc_live|0123456789abcdef|<b>|\p{C}/u);
			expect(words.length).toBeLessThanOrEqual(101);
		}),
		{ seed: 1, numRuns: 100 },
	);
});
