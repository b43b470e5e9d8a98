import { attempt } from '../basics/attempt';
import type { Clock, Random } from '../basics/ports';
import { CancelledError, GenerationError } from './errors';

/** Six tries again, with pauses of 1 s to at most 30 s: a minute and a half in all at most (spec 7, retry rule 3). */
const MAX_RETRIES = 6;
const MAX_DELAY_SECONDS = 30;

/**
 * The pause before a try: doubling from 1 s to at most `mostSeconds`, with jitter over its upper half, so that many
 * clients that were refused together do not come back together.
 *
 * @param retries 0 for the first try again
 * @returns milliseconds
 */
export function backoffDelay(
	retries: number,
	random: Random,
	mostSeconds = MAX_DELAY_SECONDS,
): number {
	const shortest = Math.min(2 ** retries, mostSeconds / 2);
	return shortest * (1 + random()) * 1000;
}

/**
 * Whether an error passes by itself soon enough to try again after a pause (spec 7, retry rules).
 *
 * @param retries tries again so far
 */
export function passes({ retry, stopsSubmitting }: GenerationError, retries: number): boolean {
	return retry === 'backoff' && !stopsSubmitting && retries < MAX_RETRIES;
}

/** What trying again needs: time, jitter, and what ends it. */
export interface RetryPorts {
	clock: Clock;
	random: Random;
	/** Ends the waiting; what is thrown then is a `CancelledError`. */
	signal: AbortSignal;
	/** How often to try again; `MAX_RETRIES` unless given. */
	maxRetries?: number;
}

/**
 * Runs a request that only reads again after errors that pass by themselves, a bounded number of times.
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
		const again =
			error instanceof GenerationError && passes(error, retries) && retries < maxRetries;
		if (!again) throw error;
		await clock.sleep(backoffDelay(retries, random), signal);
		if (signal.aborted) throw new CancelledError();
	}
}
