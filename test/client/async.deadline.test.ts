import { deadline, withTimeout } from '../../client/async';
import { VirtualTime } from '../support/virtual-time';

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

const { signal } = new AbortController();

describe('a deadline', () => {
	it.each([0, 1000])('is over when its time has passed: %d ms late', async (late) => {
		const { clock, slept, time } = pausedFor(late);
		await time.run(deadline(clock, 60_000, signal));
		expect(slept).toEqual([60_000]);
	});

	it('leaves time to read responses that arrived while the process was paused', async () => {
		const { clock, slept, time } = pausedFor(65_000);
		await time.run(deadline(clock, 60_000, signal));
		expect(slept).toEqual([60_000, 5_000]);
	});

	it('is over at once with its signal, after a pause too', async () => {
		const { clock, slept, time } = pausedFor(65_000);
		const end = new AbortController();
		time.at(70_000, () => end.abort());
		await time.run(deadline(clock, 60_000, end.signal));
		expect([slept, time.now()]).toEqual([[60_000], 70_000]);
	});
});

describe('a task with a timeout', () => {
	it('has its result although the process was paused for longer than the timeout', async () => {
		const { clock, time } = pausedFor(65_000);
		// The response arrived long before the timer fired, and is read after it.
		const task = async () => await time.sleep(60_000 + 65_000 + 10).then(() => 'answer');
		expect(await time.run(withTimeout(clock, 60_000, signal, task))).toBe('answer');
	});
});
