import type { CreateRequest } from '../wire/service';

/** What one item asks of the pipeline: a request to create and wait for, or an id to wait for. */
export interface Job {
	/** Index of the input item. */
	itemIndex: number;
	/** The id of a generation that exists. */
	id?: string;
	/** Builds the creating request. Called when it is this job's turn, so that large inputs are not held for long. */
	request?: () => Promise<CreateRequest>;
	/** What that request is made from: the same in every try, whatever the request comes out as. */
	recipe?: () => string;
	/** The user's own name for what is ordered: one generation for it, whatever execution asks. `null`: none. */
	idempotencyKey?: string | null;
	/** False: hand on the generation as it is. */
	wait: boolean;
	/** When the waiting for it began, in milliseconds since the Unix epoch, where that was before this step. */
	waitingSinceMs?: number;
	/** How long to wait for the generation, and how long for any free slot. */
	timeoutMs: number;
	onTimeout: 'error' | 'continue';
	onUncertainCharge: 'error' | 'resubmit';
}
