import { wallClock } from '../../../nodes/shared/http/clock';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Returns a function that says whether a promise has settled. */
function watch(task: Promise<void>): () => boolean {
	let ended = false;
	void task.then(() => (ended = true));
	return () => ended;
}

describe('the clock', () => {
	it('follows the clock of the system forward, and runs on if that one is set back', async () => {
		const start = Date.now();
		expect(wallClock.now()).toBe(start);
		jest.setSystemTime(start + 3_600_000);
		expect(wallClock.now()).toBe(start + 3_600_000);
		jest.setSystemTime(start);
		await jest.advanceTimersByTimeAsync(500);
		expect(wallClock.now()).toBe(start + 3_600_500);
	});

	it.each([
		['without a signal', undefined],
		['with a signal that never comes', new AbortController().signal],
	])('sleeps as long as it is told, %s', async (_, signal) => {
		const ended = watch(wallClock.sleep(5000, signal));
		await jest.advanceTimersByTimeAsync(4999);
		expect(ended()).toBe(false);
		await jest.advanceTimersByTimeAsync(1);
		expect(ended()).toBe(true);
	});

	it('wakes as soon as the signal aborts, and never rejects', async () => {
		const stop = new AbortController();
		const ended = watch(wallClock.sleep(5000, stop.signal));
		await jest.advanceTimersByTimeAsync(1000);
		stop.abort();
		await jest.advanceTimersByTimeAsync(0);
		expect(ended()).toBe(true);
	});
});
