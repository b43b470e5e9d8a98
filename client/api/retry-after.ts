import type { ServiceResponse } from '../ports';

/** A number of seconds, or a date with a time of day. Anything else is ignored, as a negative number is. */
const SECONDS = /^\s*\d+(\.\d*)?\s*$/;
const DATE = /\d:\d\d/;

/**
 * Returns how long a response asks to wait (`Retry-After`), in milliseconds; `null` if it does not. A date counts from the
 * clock of its server, which may differ from this one.
 */
export function retryAfterMs({ status, headers }: ServiceResponse, now: number): number | null {
	if (status !== 429 && status !== 503) return null;
	const value = String(headers?.['retry-after'] ?? '');
	const sentAt = Date.parse(String(headers?.date ?? ''));
	const ms = SECONDS.test(value)
		? Number(value) * 1000
		: Date.parse(DATE.test(value) ? value : '') - (Number.isNaN(sentAt) ? now : sentAt);
	return ms > 0 ? ms : null;
}
