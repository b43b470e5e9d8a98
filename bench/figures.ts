/** Arithmetic of figures. */

export function mean(values: number[]): number {
	return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The upper one of the two in the middle, where there are two. */
export function median(values: number[]): number {
	return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
}

/** A number rounded to so many digits behind the point. */
export function fixed(value: number, digits: number): number {
	return Number(value.toFixed(digits));
}
