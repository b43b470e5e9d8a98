import { runBatch, type BatchCase, type BatchResult, type Spread } from '../../bench/batch';
import { mean } from '../../bench/report';

/** A batch of ten items for each slot, with the node's default settings. */
function batchOf(slots: number, seconds: number, spread: Spread): BatchCase {
	const shape = { steps: 1, items: 10 * slots, limit: slots, maxConcurrent: slots };
	return { ...shape, seconds, spread, readiness: 'auto', seed: 1 };
}

const tenSlots: Array<[seconds: number, most: number]> = [
	[1.5, 1.25],
	[2, 1.25],
	[4, 1.1],
	[10, 1.05],
	[30, 1.03],
	[120, 1.03],
];

// The bounds are for the mean of several lists.
describe('with ten slots, a batch takes at most 1.25, 1.10, 1.05 or 1.03 times the ideal', () => {
	it.each(
		tenSlots.flatMap(([seconds, most]) =>
			(['each', 'log-normal', 'two speeds'] as const).map((spread): [number, Spread, number] => [
				seconds,
				spread,
				most,
			]),
		),
	)('generations of %d s, %s: %d', async (seconds, spread, most) => {
		const results: BatchResult[] = [];
		const lists = spread === 'each' || seconds > 30 ? 1 : 2;
		for (let seed = 1; seed <= lists; seed++) {
			results.push(await runBatch({ ...batchOf(10, seconds, spread), seed }));
		}
		expect(mean(results.map(({ ratio }) => ratio))).toBeLessThanOrEqual(most);
	});

	it.each([
		[2, 1.25],
		[4, 1.1],
		[10, 1.1],
	])('two nodes in two workers, %d s: %d', async (seconds, most) => {
		const shape = { ...batchOf(10, seconds, 'each'), steps: 2, apart: true };
		const { ratio } = await runBatch(shape);
		expect(ratio).toBeLessThanOrEqual(most);
	});
});

it('with fifty slots and few probes for each generation, a batch takes at most 1.13 times the ideal', async () => {
	const { ratio } = await runBatch(batchOf(50, 2, 'each'));
	expect(ratio).toBeLessThanOrEqual(1.13);
});

// The bounds are what batches took when no generation was expected to end at any time.
describe('a wrong guess of when generations end costs nothing', () => {
	it.each<[slots: number, spread: Spread, most: number]>([
		[10, 'two speeds', 1.08],
		[10, 'slower later', 1.14],
		[10, 'one of ten times', 1.1],
		[25, 'faster later', 1.25],
	])('with %d slots: %s', async (slots, spread, most) => {
		const { ratio } = await runBatch(batchOf(slots, 2, spread));
		expect(ratio).toBeLessThan(most);
	});
});
