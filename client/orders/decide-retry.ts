import type { CreateJob } from '../job';
import { isTransient } from '../api/retry';
import type { GenerationError } from '../api/errors';

/** Maximum number of times that `onUncertainCharge: resubmit` sends a request again within one attempt of the step. */
const MAX_RESUBMISSIONS = 3;

/** `slot`: wait for a free slot. `backoff`: pause and send again. `resend`: send again, although it may be charged twice. */
export type RetryDecision = 'slot' | 'backoff' | 'resend' | 'stop';

/** The requests for an order within this attempt of the step. */
export interface SentRequests {
	/** Retries after transient errors, since the last wait for a slot. */
	retries: number;
	/** Milliseconds since the first failure after the last wait for a slot. */
	sinceMs: number;
	/** Requests sent again after a lost response. */
	resubmissions: number;
}

/**
 * Decides what follows a failed creating request (spec 7, retry rules). A request with a lost response may have been
 * charged, so it is sent again only if the user chose that.
 *
 * @param error error of the request
 * @param tried earlier requests for the order
 * @param terms settings of the item
 */
export function decideRetry(
	error: GenerationError,
	tried: SentRequests,
	{ onUncertainCharge, timeoutMs }: Pick<CreateJob, 'onUncertainCharge' | 'timeoutMs'>,
): RetryDecision {
	const inTime = tried.sinceMs < timeoutMs;
	if (error.charge === 'unknown') {
		return mayResend(onUncertainCharge, tried.resubmissions + 1) && inTime ? 'resend' : 'stop';
	}
	if (error.charge !== 'none') return 'stop';
	if (error.retry === 'slot') return 'slot';
	return isTransient(error, tried.retries) && inTime ? 'backoff' : 'stop';
}

/**
 * True if a request that may have been charged may be sent again.
 *
 * @param lost number of responses that were lost in this attempt of the step
 */
export function mayResend(choice: CreateJob['onUncertainCharge'], lost: number): boolean {
	return choice === 'resubmit' && lost <= MAX_RESUBMISSIONS;
}
