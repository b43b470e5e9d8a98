import { attempt } from '../async';
import type { Clock, Random } from '../ports';
import { CancelledError, GenerationError } from './errors';

/** Six retries with delays of 1 s to 30 s (spec 7, retry rule 3). All delays together are at most 1.5 minutes. */
const MAX_RETRIES = 6;
const MAX_DELAY_SECONDS = 30;

/**
 * Returns the delay before a retry, in milliseconds. It doubles from 1 s to at most `maxSeconds`. Jitter over its
 * upper half keeps clients that were rejected together from returning together.
 *
 * @param retries 0 for the first retry
 */
export function backoffDelay(
	retries: number,
	random: Random,
	maxSeconds = MAX_DELAY_SECONDS,
): number {
	const shortest = Math.min(2 ** retries, maxSeconds / 2);
	return shortest * (1 + random()) * 1000;
}

/**
 * True if an error is transient and may be retried after a delay (spec 7, retry rules).
 *
 * @param retries number of retries so far
 */
export function isTransient({ retry, fatalForStep }: GenerationError, retries: number): boolean {
	return retry === 'backoff' && !fatalForStep && retries < MAX_RETRIES;
}

/** Dependencies of retries. */
export interface RetryPorts {
	clock: Clock;
	random: Random;
	/** Ends the wait with a `CancelledError`. */
	signal: AbortSignal;
	/** Maximum number of retries, capped at the default of `MAX_RETRIES`. */
	maxRetries?: number;
}

/**
 * Runs a request that only reads, and retries it a bounded number of times after transient errors.
 *
 * @throws the last error, or `CancelledError` once the signal has aborted
 */
export async function withRetries<T>(
	run: () => Promise<T>,
	{ clock, random, signal, maxRetries = MAX_RETRIES }: RetryPorts,
): Promise<T> {
	for (let retries = 0; ; retries++) {
		const tried = await attempt(run);
		if (tried.ok) return tried.value;
		const { error } = tried;
		if (
			!(error instanceof GenerationError) ||
			!isTransient(error, retries) ||
			retries >= maxRetries
		) {
			throw error;
		}
		await clock.sleep(backoffDelay(retries, random), signal);
		if (signal.aborted) throw new CancelledError();
	}
}
