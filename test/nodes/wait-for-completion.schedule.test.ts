import {
	LEAST_TIMEOUT_MS,
	sleepMs,
	SHORTEST_SLEEP_MS,
} from '../../nodes/WaitForCompletion/schedule';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Returns when a wait is awake: milliseconds since its start, up to its timeout. */
function wakes(timeoutMs: number): number[] {
	const times: number[] = [];
	let waited = SHORTEST_SLEEP_MS;
	for (;;) {
		const sleep = sleepMs(waited, timeoutMs, 0);
		if (sleep === null) return times;
		times.push((waited += sleep));
	}
}

describe('the sleeps of a suspended wait', () => {
	it('begin with the shortest that n8n wakes from in time, and grow with the wait', () => {
		expect(sleepMs(SHORTEST_SLEEP_MS, HOUR, 3_000)).toBe(SHORTEST_SLEEP_MS);
		expect(sleepMs(4 * MINUTE, HOUR, 3_000)).toBe(2 * MINUTE);
		expect(sleepMs(30 * MINUTE, HOUR, 3_000)).toBe(10 * MINUTE);
	});

	it('last until the poll interval allows a status check', () => {
		expect(sleepMs(SHORTEST_SLEEP_MS, HOUR, 5 * MINUTE)).toBe(5 * MINUTE);
	});

	it('end with the timeout, and never leave less than another sleep until then', () => {
		expect(sleepMs(58 * MINUTE, HOUR, 3_000)).toBe(2 * MINUTE);
		expect(sleepMs(49 * MINUTE, HOUR, 3_000)).toBe(11 * MINUTE);
		expect(sleepMs(SHORTEST_SLEEP_MS, LEAST_TIMEOUT_MS, 5 * MINUTE)).toBe(SHORTEST_SLEEP_MS);
	});

	it('do not begin if less than the shortest sleep is left', () => {
		expect(sleepMs(HOUR - SHORTEST_SLEEP_MS + 1, HOUR, 3_000)).toBeNull();
		expect(sleepMs(HOUR + 1, HOUR, 3_000)).toBeNull();
		expect(sleepMs(SHORTEST_SLEEP_MS, LEAST_TIMEOUT_MS - 1, 0)).toBeNull();
	});

	it.each([
		[70_000, []],
		[200_000, [130, 200]],
		[10 * MINUTE, [130, 195, 293, 439, 600]],
		[30 * MINUTE, [130, 195, 293, 439, 658, 987, 1481, 1800]],
	])('of a wait of %d ms end after these seconds', (timeoutMs, seconds) => {
		expect(wakes(timeoutMs).map((ms) => Math.round(ms / 1000))).toEqual(seconds);
	});

	it.each([
		[24 * HOUR, 50],
		[365 * 24 * HOUR, 64],
	])('of a wait of %d ms are few', (timeoutMs, most) => {
		expect(wakes(timeoutMs).length).toBeLessThanOrEqual(most);
	});
});
