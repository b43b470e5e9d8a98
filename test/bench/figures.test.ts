import { fixed, mean, median, slope } from '../../bench/figures';

it('finds the middle, the mean, and the slope of the nearest line', () => {
	expect(median([3, 1, 2])).toBe(2);
	expect(mean([1, 2, 6])).toBe(3);
	expect(fixed(1.005_9, 2)).toBe(1.01);
	const points = [0, 1, 2, 3].map((x) => ({ x, y: 2 * x + 5 }));
	expect(slope(points)).toBeCloseTo(2);
});
