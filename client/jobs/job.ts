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

/** Identifies an output of a step: the input item, and which of its outputs, each from 0. */
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
	/** Maximum wait for the generation, and also for a free slot, in milliseconds. */
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
	 * Digest of what the item asks for: the user's values, and the id and size of files. It does not depend on how the body
	 * is built from these values, and a fallback model does not change it.
	 */
	digest: string;
	/** The request without its reference inputs, which `request` adds when it is about to be sent. */
	draft: CreateRequest;
	/** Parameters and idempotency key as unevaluated expressions: a retry recognizes the item by them if values changed. */
	recipe?: () => Record<'request' | 'idempotencyKey', string>;
	/** A unique key for the item: each key has one generation, across all executions. `null`: no key. */
	idempotencyKey?: string | null;
	onUncertainCharge: 'error' | 'resubmit';
	/** How many times a failed generation, which was refunded, is created again in the same step. Default: 0. */
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
 * Decides after an error whether an output is created again, and updates `tried` of its job. A request that may have
 * been charged is never followed by another model.
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

/** Adds to the last error of an output which failures and fallback models came before that error. */
export function explainTries({ fallbackModels = [], tried }: CreateJob, thrown: unknown): unknown {
	if (!tried || !(thrown instanceof GenerationError)) return thrown;
	const { failed, lastFailure } = tried;
	// If a limit or another item has prevented the next try, the output keeps the error of its last failure.
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
