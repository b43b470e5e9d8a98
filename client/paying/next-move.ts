import { passes } from '../wire/backoff';
import type { GenerationError } from '../wire/errors';
import type { CreateJob } from '../jobs/job';

/** After a lost answer, how often `onUncertainCharge: resubmit` sends a request again within one try of the step. */
export const MAX_RESUBMISSIONS = 3;

/** What may follow a creating request that brought no generation. */
export type Move = 'wait for a slot' | 'back off' | 'send again' | 'give up';

/** What has been tried for an order in this try of the step. */
export interface Tried {
	/** Tries again after errors that pass. */
	retries: number;
	/** Milliseconds since it first failed. */
	sinceMs: number;
	/** Requests sent again after a lost answer. */
	resubmissions: number;
}

/**
 * The one rule of what may follow a creating request that brought no generation (spec 7, retry rules). A request whose
 * answer was lost may have been charged, so only the user's word sends another.
 *
 * @param error what became of the request
 * @param tried what has been tried before it
 * @param terms what the user has chosen for the item
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
