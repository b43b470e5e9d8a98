import { looksWithin, napMs, SHORTEST_NAP_MS } from '../../nodes/WaitForCompletion/naps';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('the naps of a suspended wait', () => {
	it('begin with the shortest that n8n wakes from in time, and grow with the wait', () => {
		expect(napMs(SHORTEST_NAP_MS, HOUR, 3_000)).toBe(SHORTEST_NAP_MS);
		expect(napMs(4 * MINUTE, HOUR, 3_000)).toBe(2 * MINUTE);
		expect(napMs(30 * MINUTE, HOUR, 3_000)).toBe(10 * MINUTE);
	});

	it('end with the timeout, but are never shorter than n8n can wake from', () => {
		expect(napMs(58 * MINUTE, HOUR, 3_000)).toBe(2 * MINUTE);
		expect(napMs(HOUR - 1, HOUR, 3_000)).toBe(SHORTEST_NAP_MS);
	});

	it.each([
		[70_000, 1],
		[10 * MINUTE, 5],
		[30 * MINUTE, 8],
		[24 * HOUR, 50],
		[365 * 24 * HOUR, 64],
	])('of a wait of %d ms are few', (timeoutMs, most) => {
		expect(looksWithin(timeoutMs)).toBeLessThanOrEqual(most);
	});

	it('are as many as there are looks, also where each ends late', () => {
		for (const lateMs of [0, 1, 30_000, 5 * MINUTE]) {
			for (const timeoutMs of [1, 66_000, 131_000, 30 * MINUTE, 24 * HOUR]) {
				let naps = 0;
				for (let waited = SHORTEST_NAP_MS; waited < timeoutMs; naps++) {
					waited += napMs(waited, timeoutMs, 3_000) + lateMs;
				}
				expect(naps).toBeLessThanOrEqual(looksWithin(timeoutMs));
			}
		}
	});
});
