import type { CreateRequest } from '../api/client';
import { CONTENT_REFUSED } from '../api/error-table';
import { GenerationError } from '../api/errors';
import { sentences } from '../text';

/** One item's job for the pipeline: create a generation, or collect an existing one. */
export type Job = CreateJob | CollectJob;
/** The fields of a job that tell whether it has an idempotency key. */
export type KeyedJob = Pick<Job, 'kind'> & Pick<CreateJob, 'idempotencyKey'>;

/** How the end of a generation is detected (spec 4.3): by its status, by its output URL, or by both (`auto`). */
export type Readiness = 'auto' | 'status' | 'outputUrl';

/** Identifies one output of a step: the input item, and the output of that item. Both indexes start at 0. */
export interface OutputRef {
	itemIndex: number;
	outputIndex?: number;
}

/** Returns the name of an output: `0` for the first one of item 0, then `0#2`, `0#3`. */
export function outputName({ itemIndex, outputIndex = 0 }: OutputRef): string {
	return numbered(String(itemIndex), outputIndex);
}

/** Adds the number of an output to the name or key of its item: `key` for the first one, then `key#2`, `key#3`. */
export function numbered(key: string, outputIndex: number): string {
	return outputIndex === 0 ? key : `${key}#${outputIndex + 1}`;
}

interface JobBasics {
	itemIndex: number;
	/** False: return the generation in its current state. */
	wait: boolean;
	readiness: Readiness;
	/** Maximum time of each wait, in milliseconds: for a free slot, and for the end of the generation. */
	timeoutMs: number;
	/** True if `timeoutMs` bounds the whole job, from the start of the step. By default, each wait may last `timeoutMs`. */
	countsFromStart?: boolean;
	onTimeout: 'error' | 'continue';
}

/** Creates a generation, which charges credits, or reuses the one that an earlier attempt created for the same item. */
export interface CreateJob extends JobBasics, OutputRef {
	kind: 'create';
	/** Number of input items of the step, for error messages. */
	itemCount?: number;
	/** Builds the creating request, and reads its files. Called only if that request is about to be sent. */
	request: () => Promise<CreateRequest>;
	/**
	 * Digest of the user's values, and of the id and size of files. A retry reuses a generation of the same digest. Must not
	 * depend on the request body: a fallback model or a new release of this package may change the body.
	 */
	digest: string;
	/** The creating request without its reference inputs. Only `request()` reads their files. */
	draft: CreateRequest;
	/** The item's unevaluated expressions. A retry recognizes the item by them, even if an expression returns a new value. */
	recipe?: () => Record<'request' | 'idempotencyKey', string>;
	/** A unique key for the item: each key has one generation, across all executions. `null`: no key. */
	idempotencyKey?: string | null;
	onUncertainCharge: 'error' | 'resubmit';
	/** How many times the step creates a failed generation again. Failed generations are refunded. Default: 0. */
	retriesOnFailure?: number;
	/** Models to try, in this order, if the model of the request fails or refuses. Default: none. */
	fallbackModels?: string[];
	/** How many generations failed, and how many fallback models were used. Set while the job runs. */
	tried?: { failed: number; fallbacks: number; lastFailure?: GenerationError };
}

/** Waits for an existing generation or checks it once. Charges nothing. */
export interface CollectJob extends JobBasics {
	kind: 'collect';
	id: string;
}

/** Errors of a creating request after which another model is worth trying (spec 7). */
const MODEL_ERRORS = new Set(['model_unavailable', 'model_not_found', 'unsupported_parameter']);

/** True for an error of a creating request that is about its model, and not about the service. */
export function isAboutModel({ code }: Pick<GenerationError, 'code'>): boolean {
	return MODEL_ERRORS.has(code);
}

/** The fallback model that the job uses now; `undefined` while it uses the model of the request. */
export function fallbackOf(job: Job): string | undefined {
	return job.kind === 'create' ? job.fallbackModels?.[(job.tried?.fallbacks ?? 0) - 1] : undefined;
}

/** Builds the request that a job sends, with the fallback model if one is in use. Rejects if `job.request` rejects. */
export async function requestOf(job: CreateJob): Promise<CreateRequest> {
	const request = await job.request();
	const model = fallbackOf(job);
	return model === undefined ? request : { ...request, body: { ...request.body, model } };
}

/**
 * Decides whether an output is created again after an error, and updates `job.tried`. Returns `stop` if the failed request
 * may remain charged: a second request could then be charged as well.
 */
export function decideNextTry(
	job: Pick<CreateJob, 'retriesOnFailure' | 'fallbackModels' | 'tried'>,
	error: unknown,
): 'same model' | 'next model' | 'stop' {
	if (!(error instanceof GenerationError)) return 'stop';
	const { charge, code } = error;
	const isRefusal = code === CONTENT_REFUSED;
	const { retriesOnFailure = 0, fallbackModels = [] } = job;
	const tried = (job.tried ??= { failed: 0, fallbacks: 0 });
	if (charge === 'refunded') {
		tried.failed++;
		tried.lastFailure = error;
		if (!isRefusal && tried.failed <= retriesOnFailure) return 'same model';
	}
	const mayHelp = isRefusal || MODEL_ERRORS.has(code);
	const certain = charge === 'refunded' || (charge === 'none' && mayHelp);
	if (!certain || tried.fallbacks >= fallbackModels.length) return 'stop';
	tried.fallbacks++;
	return 'next model';
}

/** Adds the earlier failures and fallback models of an output to the description of its last error. */
export function explainTries({ fallbackModels = [], tried }: CreateJob, thrown: unknown): unknown {
	if (!tried || !(thrown instanceof GenerationError)) return thrown;
	const { failed, lastFailure } = tried;
	// If a spending limit or another item's error prevented the next try, the output keeps the error of its last failure.
	const error = thrown.skipped && lastFailure ? lastFailure : thrown;
	const notAgain = error !== thrown && `It was not created again: ${thrown.message}`;
	const models = fallbackModels.slice(0, tried.fallbacks);
	const isFirst = failed <= (error.charge === 'refunded' ? 1 : 0);
	if (models.length === 0 && isFirst && !notAgain) return error;
	const failures = failed === 1 ? '1 generation' : `${failed} generations`;
	const description = sentences(
		failed > 0 && `${failures} of this item failed and ${failed === 1 ? 'was' : 'were'} refunded`,
		models.length > 0 && `Fallback models that were tried: ${models.join(', ')}`,
		notAgain,
		error.description,
	);
	return error.with({ description });
}
