import { InvalidInputError } from './api/errors';

/** Maximum length of a video, in seconds. A model may allow less (spec 8). */
const MAX_DURATION = 10;

/** Checks of numbers, as in `checks.ts`. Each throws `InvalidInputError` with the field's name in it. */

/** A whole number, or a text that contains one. */
export function integer(field: string, value: unknown): number {
	const number = numeric(value);
	if (Number.isSafeInteger(number)) return number;
	throw new InvalidInputError(
		`${field} "${String(value)}" is not a whole number`,
		`Write ${field} as a whole number.`,
	);
}

/** A whole number from `least` to `most`, or a text that contains one. */
export function integerWithin(field: string, value: unknown, least: number, most: number): number {
	const number = numeric(value);
	if (Number.isInteger(number) && number >= least && number <= most) return number;
	throw new InvalidInputError(
		`${field} "${String(value)}" is not a whole number from ${least} to ${most}`,
		`Enter a whole number from ${least} to ${most}.`,
	);
}

/** A number, or a text that contains one. */
export function number(field: string, value: unknown): number {
	const read = numeric(value);
	if (Number.isFinite(read)) return read;
	throw new InvalidInputError(
		`${field} "${String(value)}" is not a number`,
		`Write ${field} as a number.`,
	);
}

/**
 * A number above 0.
 *
 * @param least minimum value, if there is one
 */
export function positive(field: string, value: unknown, least?: number): number {
	const number = numeric(value);
	if (Number.isFinite(number) && number > 0 && number >= (least ?? 0)) return number;
	const bound = least === undefined ? 'above 0' : `of at least ${least}`;
	throw new InvalidInputError(
		`${field} "${String(value)}" is not a number ${bound}`,
		`Write ${field} as a number ${bound}.`,
	);
}

/** Length of a video in seconds: positive, at most 10. The model's own maximum may be lower (spec 8). */
export function duration(field: string, value: unknown): number {
	const seconds = positive(field, value);
	if (seconds <= MAX_DURATION) return seconds;
	throw new InvalidInputError(
		`${field} ${seconds} is longer than any model allows`,
		`Write at most ${MAX_DURATION} seconds; the maximum varies by model between 4 and ${MAX_DURATION}.`,
	);
}

function numeric(value: unknown): number {
	if (typeof value === 'number') return value;
	return typeof value === 'string' && value.trim() !== '' ? Number(value) : NaN;
}
