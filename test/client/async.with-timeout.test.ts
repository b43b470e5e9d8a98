import { withTimeout } from '../../client/async';
import { hanging } from '../support/fake-service';
import { VirtualTime } from '../support/virtual-time';

describe('a task with a timeout', () => {
	const time = new VirtualTime();
	const never = new AbortController().signal;

	it('returns its result, and its signal is not aborted afterwards', async () => {
		let told: AbortSignal | undefined;
		const run = withTimeout(time, 1000, never, async (signal) => {
			told = signal;
			await time.sleep(999);
			return 'done';
		});
		expect(await time.run(run)).toBe('done');
		expect(told?.aborted).toBe(false);
	});

	it('throws its error, and its signal is not aborted afterwards', async () => {
		let told: AbortSignal | undefined;
		const run = withTimeout(time, 1000, never, async (signal) => {
			told = signal;
			await time.sleep(10);
			throw new Error('broken');
		});
		await expect(time.run(run)).rejects.toThrow('broken');
		expect(told?.aborted).toBe(false);
	});

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

	it.each([0, -1])('is not started with %d ms', async (ms) => {
		const task = jest.fn(async () => 'done');
		expect(await withTimeout(time, ms, never, task)).toBeNull();
		expect(task).not.toHaveBeenCalled();
	});

	it('is aborted when the outer signal aborts', async () => {
		const all = new AbortController();
		time.at(time.now() + 300, () => all.abort());
		const before = time.now();
		const run = withTimeout(time, 1000, all.signal, async (signal) => {
			await time.sleep(900, signal);
			return signal.aborted;
		});
		expect(await time.run(run)).toBe(true);
		expect(time.now() - before).toBe(300);
	});

	it('leaves no timer and no listener behind', async () => {
		const all = new AbortController();
		const signals: Array<AbortSignal | undefined> = [];
		const clock = {
			now: () => time.now(),
			sleep: async (ms: number, signal?: AbortSignal) => {
				signals.push(signal);
				await time.sleep(ms, signal);
			},
		};
		let told: AbortSignal | undefined;
		await withTimeout(clock, 1000, all.signal, async (signal) => (told = signal));
		all.abort();
		expect([signals[0]?.aborted, told?.aborted]).toEqual([true, false]);
	});

	it('may fail after the timeout without an unhandled rejection', async () => {
		const run = withTimeout(time, 1000, never, async () => {
			await time.sleep(2000);
			throw new Error('late');
		});
		expect(await time.run(run)).toBeNull();
		await time.run(time.sleep(5000));
	});
});
