import { toResult } from '../async';
import type { Clock, Debug, Random } from '../ports';
import { CancelledError, GenerationError } from './errors';

/** Six retries with delays of 1 s to 30 s (spec 7, retry rule 3). All delays together are at most 1.5 minutes. */
export const MAX_RETRIES = 6;
const MAX_DELAY_SECONDS = 30;

/**
 * Returns the delay before a retry, in milliseconds: 1 to 2 s for the first (`retries` 0), then doubled up to `maxSeconds`.
 * The upper half of the delay is random, so that clients that were rejected together do not return together.
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
 * Decides what follows a failed request (spec 7). If the request may have charged, only `mayResend` allows a retry.
 *
 * @param retries number of retries after transient errors so far
 * @param inTime false once the time for retries is over
 * @param mayResend true if the user allows resending a request that may have been charged
 * @returns `slot`: wait for a free slot; `backoff`: pause, then send again; `resend`: send again at the risk of a second
 * charge; `stop`: give up
 */
export function decideRetry(
	{ charge, retry, fatalForStep }: GenerationError,
	{ retries = 0, maxRetries = MAX_RETRIES, inTime = true, mayResend = false },
): 'slot' | 'backoff' | 'resend' | 'stop' {
	if (charge === 'unknown') return mayResend && inTime ? 'resend' : 'stop';
	if (charge !== 'none') return 'stop';
	if (retry === 'slot') return 'slot';
	const isTransient = retry === 'backoff' && !fatalForStep;
	return isTransient && inTime && retries < maxRetries ? 'backoff' : 'stop';
}

/** Sleeps. Throws `CancelledError` once the signal has aborted. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
	await clock.sleep(Math.max(0, ms), signal);
	if (signal.aborted) throw new CancelledError();
}

/** `withRetries` gives up if a server asks to wait longer than this. */
const LONGEST_ASKED_MS = 120_000;

export interface RetryPorts {
	clock: Clock;
	random: Random;
	signal: AbortSignal;
	maxRetries?: number;
	debug?: Debug;
}

/** Runs a request that only reads, and retries transient errors. Throws the last error, or `CancelledError`. */
export async function withRetries<T>(
	run: () => Promise<T>,
	{ clock, random, signal, maxRetries = MAX_RETRIES, debug }: RetryPorts,
): Promise<T> {
	for (let retries = 0; ; retries++) {
		const result = await toResult(run);
		if (result.ok) return result.value;
		const { error } = result;
		if (!(error instanceof GenerationError)) throw error;
		const waitMs = error.retryAfterMs ?? 0;
		const inTime = waitMs <= LONGEST_ASKED_MS;
		if (decideRetry(error, { retries, maxRetries, inTime }) !== 'backoff') throw error;
		debug?.(`a request is repeated (${error.code})`);
		await pause(clock, Math.max(backoffDelay(retries, random), waitMs), signal);
	}
}
