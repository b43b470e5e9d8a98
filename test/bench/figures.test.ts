import { fixed, mean, median, requireBounds, slope } from '../../bench/figures';

it('computes the median, the mean, and the slope of the least-squares line', () => {
	expect(median([3, 1, 2])).toBe(2);
	expect(mean([1, 2, 6])).toBe(3);
	expect(fixed(1.005_9, 2)).toBe(1.01);
	const points = [0, 1, 2, 3].map((x) => ({ x, y: 2 * x + 5 }));
	expect(slope(points)).toBeCloseTo(2);
});

it('refuses a batch that takes longer than is claimed', () => {
	const row = (taken: number, most: number | '-') => ({
		batch: '2 s each',
		'makespan / ideal': taken,
		'at most': most,
	});
	expect(() => requireBounds([row(1.25, 1.25), row(3, '-')])).not.toThrow();
	expect(() => requireBounds([row(1, 1.25), row(1.26, 1.25)])).toThrow('2 s each: 1.26, not 1.25');
});
