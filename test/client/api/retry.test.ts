import fc from 'fast-check';

import { backoffDelay, withRetries } from '../../../client/api/retry';
import { CancelledError, GenerationError } from '../../../client/api/errors';
import { VirtualTime } from '../../support/virtual-time';

const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

function failing(retry: 'never' | 'backoff' = 'backoff'): GenerationError {
	return new GenerationError({ title: 'Failed', description: '', code: 'server_error', retry });
}

interface Trying {
	/** The error of each failed request. */
	error?: Error;
	maxRetries?: number;
}

/** Runs a request that fails several times, and returns the times at which it was sent. */
function trying(failures: number, { error = failing(), maxRetries }: Trying = {}) {
	const time = new VirtualTime(0);
	const stop = new AbortController();
	const triedAt: number[] = [];
	const task = withRetries(
		async () => {
			triedAt.push(time.now());
			if (triedAt.length <= failures) throw error;
			return 'done';
		},
		{
			clock: time,
			random: () => 0.5,
			signal: stop.signal,
			maxRetries,
		},
	);
	return { time, stop, triedAt, task };
}

describe('the delay before a retry', () => {
	it('is 1 to 30 s for any number of retries and any jitter', () => {
		fc.assert(
			fc.property(fc.nat(5000), anyRandom, (retries, jitter) => {
				const delay = backoffDelay(retries, () => jitter);
				expect(delay).toBeGreaterThanOrEqual(1000);
				expect(delay).toBeLessThanOrEqual(30_000);
			}),
		);
	});

	it('begins at 1 s and is at most 30 s', () => {
		expect(backoffDelay(0, () => 0)).toBe(1000);
		expect(backoffDelay(100, () => 0.999_999)).toBeCloseTo(30_000, -2);
	});

	it('doubles until the maximum, and never decreases', () => {
		fc.assert(
			fc.property(fc.nat(50), anyRandom, (retries, jitter) => {
				const [before, after] = [retries, retries + 1].map((n) => backoffDelay(n, () => jitter));
				if (retries < 3) expect(after).toBeCloseTo(2 * before, 6);
				else expect(after).toBeGreaterThanOrEqual(before);
			}),
		);
	});

	it('has jitter over its upper half, so that clients do not retry at the same time', () => {
		for (const retries of [0, 1, 2, 3, 4, 9]) {
			const least = backoffDelay(retries, () => 0);
			expect(backoffDelay(retries, () => 0.25)).toBe(least * 1.25);
			expect(backoffDelay(retries, () => 0.75)).toBe(least * 1.75);
		}
	});
});

describe('retrying', () => {
	it('is not needed if the first request succeeds', async () => {
		const { time, triedAt, task } = trying(0);
		expect(await time.run(task)).toBe('done');
		expect(triedAt).toEqual([0]);
	});

	it('waits longer after each failure until a request succeeds', async () => {
		const { time, triedAt, task } = trying(4);
		expect(await time.run(task)).toBe('done');
		expect(triedAt).toEqual([0, 1500, 4500, 10_500, 22_500]);
	});

	it('ends after six retries with the last error', async () => {
		const { time, triedAt, task } = trying(Infinity);
		await expect(time.run(task)).rejects.toThrow('Failed');
		expect(triedAt).toHaveLength(7);
	});

	it('ends sooner with a lower maximum', async () => {
		const { time, triedAt, task } = trying(Infinity, { maxRetries: 1 });
		await expect(time.run(task)).rejects.toThrow('Failed');
		expect(triedAt).toHaveLength(2);
	});

	it('ends at once if every further request would also fail', async () => {
		const error = failing().with({ fatalForStep: true });
		const { time, triedAt, task } = trying(Infinity, { error });
		await expect(time.run(task)).rejects.toBe(error);
		expect(triedAt).toEqual([0]);
	});

	it('ends at once when the signal aborts, and sends nothing afterwards', async () => {
		const { time, stop, triedAt, task } = trying(Infinity);
		time.at(2000, () => stop.abort());
		await expect(time.run(task)).rejects.toBeInstanceOf(CancelledError);
		expect(triedAt).toEqual([0, 1500]);
		expect(time.now()).toBe(2000);
	});

	it.each([
		['a request that is not safe to retry', failing('never')],
		['an unexpected error', new TypeError('A mistake of ours')],
	])('does not happen after %s', async (_, error) => {
		const { time, triedAt, task } = trying(Infinity, { error });
		await expect(time.run(task)).rejects.toBe(error);
		expect(triedAt).toEqual([0]);
	});

	it('is always bounded', async () => {
		await fc.assert(
			fc.asyncProperty(fc.nat(12), fc.nat(6), async (failures, maxRetries) => {
				const { time, triedAt, task } = trying(failures, { maxRetries });
				await time.run(task).catch(() => undefined);
				expect(triedAt).toHaveLength(Math.min(failures, maxRetries) + 1);
			}),
		);
	});
});
