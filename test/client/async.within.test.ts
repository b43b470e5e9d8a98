import { withTimeout } from '../../client/async';
import { hanging } from '../support/fake-service';
import { VirtualTime } from '../support/virtual-time';

describe('a task with a time limit', () => {
	const time = new VirtualTime();
	const never = new AbortController().signal;

	it('hands on what it came to, and is not told to end when it has', async () => {
		let told: AbortSignal | undefined;
		const run = withTimeout(time, 1000, never, async (signal) => {
			told = signal;
			await time.sleep(999);
			return 'done';
		});
		expect(await time.run(run)).toEqual({ value: 'done' });
		expect(told?.aborted).toBe(false);
	});

	it('throws what it throws, and is not told to end when it has', async () => {
		let told: AbortSignal | undefined;
		const run = withTimeout(time, 1000, never, async (signal) => {
			told = signal;
			await time.sleep(10);
			throw new Error('broken');
		});
		await expect(time.run(run)).rejects.toThrow('broken');
		expect(told?.aborted).toBe(false);
	});

	it('is told, and left alone, when its time is over: also where it does not listen', async () => {
		let told: AbortSignal | undefined;
		const before = time.now();
		const run = withTimeout(time, 1000, never, async (signal) => {
			told = signal;
			return await hanging();
		});
		expect(await time.run(run)).toBeNull();
		expect([told?.aborted, time.now() - before]).toEqual([true, 1000]);
	});

	it.each([0, -1])('is not begun with %d ms', async (ms) => {
		const task = jest.fn(async () => 'done');
		expect(await withTimeout(time, ms, never, task)).toBeNull();
		expect(task).not.toHaveBeenCalled();
	});

	it('is told when everything ends', async () => {
		const all = new AbortController();
		time.at(time.now() + 300, () => all.abort());
		const before = time.now();
		const run = withTimeout(time, 1000, all.signal, async (signal) => {
			await time.sleep(900, signal);
			return signal.aborted;
		});
		expect(await time.run(run)).toEqual({ value: true });
		expect(time.now() - before).toBe(300);
	});

	it('leaves nothing behind when it has ended: no timer, and nobody to be told', async () => {
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

	it('may fail late without anybody hearing of it', async () => {
		const run = withTimeout(time, 1000, never, async () => {
			await time.sleep(2000);
			throw new Error('late');
		});
		expect(await time.run(run)).toBeNull();
		await time.run(time.sleep(5000));
	});
});
