import { toResult } from '../async';
import type { Clock, Debug, Random } from '../ports';
import { CancelledError, GenerationError } from './errors';

/** Six retries with delays of 1 s to 30 s (spec 7, retry rule 3). All delays together are at most 1.5 minutes. */
export const MAX_RETRIES = 6;
const MAX_DELAY_SECONDS = 30;

/**
 * Returns the delay before a retry (0 for the first), in milliseconds. It doubles from 1 s to at most `maxSeconds`.
 * Jitter over its upper half keeps clients that were rejected together from returning together.
 */
export function backoffDelay(
	retries: number,
	random: Random,
	maxSeconds = MAX_DELAY_SECONDS,
): number {
	const shortest = Math.min(2 ** retries, maxSeconds / 2);
	return shortest * (1 + random()) * 1000;
}

/** `withRetries` gives up once the waits that servers ask for add up to more than this, times `maxRetries`. */
const ASKED_PER_RETRY_MS = 20_000;

/** `slot`: wait for a free slot. `backoff`: pause and send again. `resend`: send again, although it may be charged twice. */
export type RetryDecision = 'slot' | 'backoff' | 'resend' | 'stop';

interface RetryLimits {
	/** Retries after transient errors so far. */
	retries: number;
	maxRetries?: number;
	/** False once the time for retries is over. Default: true. */
	inTime?: boolean;
	/** True if the user allows resending a request that may have been charged. Default: false. */
	mayResend?: boolean;
}

/**
 * Decides what follows a failed request (spec 7, retry rules): to create, to check a status, to download or to read. A
 * request that may have been charged is never repeated by itself.
 */
export function decideRetry(
	{ charge, retry, fatalForStep }: GenerationError,
	{ retries, maxRetries = MAX_RETRIES, inTime = true, mayResend = false }: RetryLimits,
): RetryDecision {
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

/**
 * Returns the maximum number of retries: `Infinity` if the server asks to wait, or if the request never reached it. The
 * item's timeout then ends the retries.
 */
export function mostRetries({ code, retryAfterMs }: GenerationError, usual = MAX_RETRIES): number {
	return retryAfterMs !== null || code === 'connection_failed' ? Infinity : usual;
}

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
	let askedMs = 0;
	for (let retries = 0; ; retries++) {
		const result = await toResult(run);
		if (result.ok) return result.value;
		const { error } = result;
		if (!(error instanceof GenerationError)) throw error;
		const waitMs = error.retryAfterMs ?? 0;
		askedMs += waitMs;
		const inTime = askedMs <= maxRetries * ASKED_PER_RETRY_MS;
		if (decideRetry(error, { retries, maxRetries, inTime }) !== 'backoff') throw error;
		debug?.(`a request is repeated (${error.code})`);
		await pause(clock, Math.max(backoffDelay(retries, random), waitMs), signal);
	}
}
