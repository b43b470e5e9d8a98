import { invalid } from './input';

/** Maximum length of a video, in seconds. A model may allow less (spec 8). */
const MAX_DURATION = 10;

/** Checks of numbers. Each throws `InvalidInputError` with the field's name in it. */

/** A whole number, or a text that contains one. */
export function integer(field: string, value: unknown): number {
	const read = numeric(value);
	if (Number.isSafeInteger(read)) return read;
	throw invalid(field, 'a whole number', value);
}

/** A whole number from `least` to `most`, or a text that contains one. */
export function integerWithin(field: string, value: unknown, least: number, most: number): number {
	const read = numeric(value);
	if (Number.isInteger(read) && read >= least && read <= most) return read;
	throw invalid(field, `a whole number from ${least} to ${most}`, value);
}

/** A number, or a text that contains one. */
export function number(field: string, value: unknown): number {
	const read = numeric(value);
	if (Number.isFinite(read)) return read;
	throw invalid(field, 'a number', value);
}

/**
 * A number above 0.
 *
 * @param least minimum value, if there is one
 */
export function positive(field: string, value: unknown, least?: number): number {
	const read = numeric(value);
	if (Number.isFinite(read) && read > 0 && read >= (least ?? 0)) return read;
	throw invalid(field, least === undefined ? 'a number above 0' : `at least ${least}`, value);
}

/** Length of a video in seconds: positive, at most 10. The model's own maximum may be lower (spec 8). */
export function duration(field: string, value: unknown): number {
	const seconds = positive(field, value);
	if (seconds <= MAX_DURATION) return seconds;
	const advice = `Change ${field}. The maximum varies by model, between 4 and ${MAX_DURATION} seconds.`;
	throw invalid(field, `at most ${MAX_DURATION}`, value, advice);
}

function numeric(value: unknown): number {
	if (typeof value === 'number') return value;
	return typeof value === 'string' && value.trim() !== '' ? Number(value) : NaN;
}
