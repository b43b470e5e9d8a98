import type { ServiceResponse } from '../ports';
import { asRecord } from './generation';

/** Values of `Retry-After`: seconds, or a date with a time of day. Anything else, such as a negative number, is ignored. */
const SECONDS = /^\s*\d+(\.\d*)?\s*$/;
const DATE = /\d:\d\d/;
const YEAR_MS = 31_536_000_000;

/**
 * Returns how long a 429 or 503 response asks to wait, in milliseconds; `null` if it does not. Reads the header
 * `Retry-After`, or else `retry_after` in the body's `error`, or else in the body itself.
 */
export function retryAfterMs(
	{ status, headers, body }: ServiceResponse,
	now: number,
): number | null {
	if (status !== 429 && status !== 503) return null;
	const { error, retry_after: beside } = asRecord(body);
	const within = asRecord(error).retry_after;
	const value = String(headers?.['retry-after'] ?? within ?? beside ?? '');
	// Without this limit, a number of four hundred digits would be `Infinity`.
	if (SECONDS.test(value)) return Math.min(Number(value) * 1000, YEAR_MS) || null;
	const ms = DATE.test(value) ? Date.parse(value) - now : NaN;
	return ms > 0 ? ms : null;
}
