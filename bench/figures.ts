/** Arithmetic for the figures. */

export function mean(values: number[]): number {
	return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the median. With an even number of values, this is the upper of the two in the middle. */
export function median(values: number[]): number {
	return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
}

/** Returns a number rounded to this many decimal places. */
export function fixed(value: number, digits: number): number {
	return Number(value.toFixed(digits));
}

/** Returns the slope of the straight line that best fits the points (least squares). */
export function slope(points: Array<{ x: number; y: number }>): number {
	const [x0, y0] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
	const over = points.reduce((sum, { x, y }) => sum + (x - x0) * (y - y0), 0);
	return over / points.reduce((sum, { x }) => sum + (x - x0) ** 2, 0);
}

/** A measurement and its upper bound. */
interface Bounded {
	batch: string;
	'makespan / ideal': number;
	'at most': number | '-';
}

/** @throws if a batch takes longer than claimed */
export function requireBounds(rows: Bounded[]): void {
	const late = rows.filter(
		(row) => row['at most'] !== '-' && row['makespan / ideal'] > row['at most'],
	);
	if (late.length === 0) return;
	const lines = late.map(
		(row) => `${row.batch}: ${row['makespan / ideal']}, not ${row['at most']}`,
	);
	throw new Error(`Slower than claimed:\n${lines.join('\n')}`);
}
