import type { CreateRequest } from '../wire/service';

/** What one item asks of the pipeline: a generation to create, or one that exists to be collected. */
export type Job = CreateJob | CollectJob;

/** How the end of a generation is noticed (spec 4.3): by its status, by its output URL, or by both. */
export type Readiness = 'auto' | 'status' | 'outputUrl';

interface JobBasics {
	/** Index of the input item. */
	itemIndex: number;
	/** False: hand on the generation as it is. */
	wait: boolean;
	readiness: Readiness;
	/** Milliseconds to wait for the generation, and to wait without any free slot. */
	timeoutMs: number;
	onTimeout: 'error' | 'continue';
}

/** A generation to create, or to take up where it was created before. Charges credits. */
export interface CreateJob extends JobBasics {
	kind: 'create';
	/** Builds the creating request. Called when it is this job's turn, so that large inputs are not held for long. */
	request: () => Promise<CreateRequest>;
	/** The request without its reference inputs, which are read only when it is built. */
	draft?: CreateRequest;
	/** What the request and the idempotency key are made from: the same in every try, whatever they come out as. */
	recipe?: () => Record<'request' | 'idempotencyKey', string>;
	/** The user's own name for what is ordered: one generation for it, whatever execution asks. `null`: none. */
	idempotencyKey?: string | null;
	onUncertainCharge: 'error' | 'resubmit';
}

/** A generation that exists, to be waited for or looked at. Charges nothing. */
export interface CollectJob extends JobBasics {
	kind: 'collect';
	/** The id of a generation that exists. */
	id: string;
	/** When the waiting for it began, in milliseconds since the Unix epoch, where that was before this step. */
	waitingSinceMs?: number;
}
