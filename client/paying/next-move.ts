import { passes } from '../api/retry';
import type { GenerationError } from '../api/errors';
import type { CreateJob } from '../job';

/**
 * Maximum number of times that `onUncertainCharge: resubmit` sends a request again within one attempt of the step.
 */
export const MAX_RESUBMISSIONS = 3;

/** The next action after a creating request that failed. */
export type Move = 'wait for a slot' | 'back off' | 'send again' | 'give up';

/** The requests for an order within this attempt of the step. */
export interface Tried {
	/** Retries after transient errors. */
	retries: number;
	/** Milliseconds since the first failure. */
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
export function nextMove(
	error: GenerationError,
	tried: Tried,
	{ onUncertainCharge, timeoutMs }: Pick<CreateJob, 'onUncertainCharge' | 'timeoutMs'>,
): Move {
	const inTime = tried.sinceMs < timeoutMs;
	if (error.charge === 'unknown') {
		const again = onUncertainCharge === 'resubmit' && tried.resubmissions < MAX_RESUBMISSIONS;
		return again && inTime ? 'send again' : 'give up';
	}
	if (error.charge !== 'none') return 'give up';
	if (error.retry === 'slot') return 'wait for a slot';
	return passes(error, tried.retries) && inTime ? 'back off' : 'give up';
}
