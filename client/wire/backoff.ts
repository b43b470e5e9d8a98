import { attempt } from '../basics/attempt';
import type { Clock, Random } from '../basics/ports';
import { CancelledError, GenerationError } from './errors';

/** Six tries again, with pauses of 1 s to at most 30 s: a minute and a half in all at most (spec 7, retry rule 3). */
const MAX_RETRIES = 6;
const MAX_DELAY_SECONDS = 30;

/** How long a service is looked for that has never answered: a wrong address is not to be waited for. */
const FIRST_CONTACT_MS = 5_000;

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

function longestDelay(retries: number): number {
	return backoffDelay(retries, () => 1);
}

/** How often and for how long something has been tried. */
export interface Tries {
	/** Tries again so far. */
	retries: number;
	/** Milliseconds since it first failed. */
	sinceMs: number;
	/** Whether the service has ever answered in this step. */
	answered: boolean;
}

/** Whether an error passes by itself soon enough to try again after a pause (spec 7, retry rules). */
export function passes(error: GenerationError, { retries, sinceMs, answered }: Tries): boolean {
	if (error.retry !== 'backoff' || retries >= MAX_RETRIES) return false;
	if (answered || error.code !== 'connection_failed') return true;
	return sinceMs + longestDelay(retries) <= FIRST_CONTACT_MS;
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
 * @param answered whether the service has ever answered
 * @throws the last error, or `CancelledError` once the signal has aborted
 */
export async function withRetries<T>(
	run: () => Promise<T>,
	answered: () => boolean,
	{ clock, random, signal, maxRetries = MAX_RETRIES }: RetryPorts,
): Promise<T> {
	let failingSince: number | null = null;
	for (let retries = 0; ; retries++) {
		const tried = await attempt(run);
		if (tried.ok) return tried.value;
		const { error } = tried;
		failingSince ??= clock.now();
		const tries = { retries, sinceMs: clock.now() - failingSince, answered: answered() };
		const again = error instanceof GenerationError && passes(error, tries) && retries < maxRetries;
		if (!again) throw error;
		await clock.sleep(backoffDelay(retries, random), signal);
		if (signal.aborted) throw new CancelledError();
	}
}
