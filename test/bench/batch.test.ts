import { runBatch, type BatchCase, type Spread } from '../../bench/batch';

/** A batch of ten items for each slot, with the node's default settings. */
function batchOf(slots: number, seconds: number, spread: Spread): BatchCase {
	const shape = { steps: 1, items: 10 * slots, limit: slots, maxConcurrent: slots };
	return { ...shape, seconds, spread, readiness: 'auto', seed: 1 };
}

describe('a batch takes about as long as its generations need', () => {
	it.each<[slots: number, seconds: number, spread: Spread, most: number]>([
		[10, 2, 'each', 1.11],
		[10, 4, 'log-normal', 1.06],
		[10, 10, 'each', 1.05],
		[25, 2, 'each', 1.12],
		[25, 2, 'log-normal', 1.14],
		[25, 4, 'each', 1.06],
		[25, 4, 'log-normal', 1.08],
	])('with %d slots and generations of %d s, %s', async (slots, seconds, spread, most) => {
		const { ratio, statusRequestsPerGeneration } = await runBatch(batchOf(slots, seconds, spread));
		expect(ratio).toBeLessThan(most);
		expect(statusRequestsPerGeneration).toBeLessThan(seconds < 10 ? 1.6 : 4.2);
	});
});

// The bounds are what batches took when no generation was expected to end at any time.
describe('a wrong guess of when generations end costs nothing', () => {
	it.each<[slots: number, spread: Spread, most: number]>([
		[10, 'two speeds', 1.08],
		[10, 'slower later', 1.14],
		[10, 'faster later', 1.15],
		[10, 'one of ten times', 1.1],
		[25, 'two speeds', 1.21],
		[25, 'slower later', 1.26],
		[25, 'faster later', 1.25],
		[25, 'one of ten times', 1.16],
	])('with %d slots: %s', async (slots, spread, most) => {
		const { ratio } = await runBatch(batchOf(slots, 2, spread));
		expect(ratio).toBeLessThan(most);
	});
});
