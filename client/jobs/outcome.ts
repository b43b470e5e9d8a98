import { CancelledError, GenerationError, inTitle, type KnownGeneration } from '../api/errors';
import { isFailed, lacksOutput, type Generation, type GenerationItem } from '../api/generation';
import { CONTENT_REFUSED, REFUSED_CONTENT } from '../api/error-table';
import { isOtherEnd, isUnknownState } from '../api/states';
import type { CreateJob } from './job';
import { inSeconds, itemNames, sentences } from '../text';

/** The result of one job. `output` is what the pipeline's `finish` made of a completed generation. */
export type Outcome<T> =
	/** `leftOut`: number of further outputs of the generation, which are not returned. */
	| { kind: 'done'; generation: GenerationItem; output: T | null; leftOut?: number }
	| { kind: 'error'; error: GenerationError }
	/** The step ended before the job. The job's generation, if there is one, continues at the service. */
	| { kind: 'stopped'; generation: KnownGeneration | null };

/** True if the service has shown that the generation exists. An id entered by a user has no status until it is checked. */
export function isConfirmed({ status }: KnownGeneration): boolean {
	return Boolean(status);
}

/** Error codes of generations that ended without an output and perhaps without a refund. The node does not replace them. */
export const ENDED_WITHOUT_OUTPUT: ReadonlySet<string> = new Set([
	'generation_ended',
	'output_missing',
]);

/** Builds the error for a generation that ended without an output; `null` if it still runs, or has an output. */
export function errorOfEnd(generation: Generation): GenerationError | null {
	if (isFailed(generation)) return failedGeneration(generation);
	if (isOtherEnd(generation.item.status)) return endedGeneration(generation);
	return lacksOutput(generation) ? withoutOutput(generation) : null;
}

/** Returns fields of an error with the service's reason: in the title, or in `details` if the reason is too long. */
function withReason(title: string, { item, failureReason }: Generation) {
	const reason = inTitle(failureReason);
	return {
		title: reason === null ? title : `${title}: ${reason}`,
		details: reason === null && failureReason ? `The service says: ${failureReason}` : '',
		generation: item,
	};
}

/** Builds the error for a failed generation, which the service has refunded (spec 3). */
export function failedGeneration(generation: Generation): GenerationError {
	const { isContentRefusal } = generation;
	return new GenerationError({
		...withReason(isContentRefusal ? REFUSED_CONTENT.title : 'The generation failed', generation),
		description: isContentRefusal
			? `It was not sent to this model again. ${REFUSED_CONTENT.advice}`
			: 'Change the prompt or the model, or try again. If it has input files, check that their URLs open from the internet without a login.',
		code: isContentRefusal ? CONTENT_REFUSED : 'generation_failed',
		charge: 'refunded',
	});
}

/** Builds the error for a generation in a final state that the spec does not name. Only `failed` is refunded for certain. */
function endedGeneration(generation: Generation): GenerationError {
	const { status } = generation.item;
	return new GenerationError({
		...withReason(`The generation ended with the status "${status}"`, generation),
		description:
			'It is not known whether the credits were refunded, so it was not created again. Check the balance in the service’s app. To create it again, run the item in a new execution.',
		code: 'generation_ended',
		charge: 'paid',
	});
}

function withoutOutput(generation: Generation): GenerationError {
	return new GenerationError({
		...withReason('The generation is completed, but the service returned no output', generation),
		description:
			'It was not created again. Look for it in the service’s app. Wait for Completion checks it again by its ID, at no charge.',
		code: 'output_missing',
		charge: 'paid',
	});
}

/** Builds the error for a generation that did not end in time, or that ended but could not be fetched in time. */
export function timedOutGeneration(
	generation: KnownGeneration,
	timeoutMs: number,
	lastError: GenerationError | null,
): GenerationError {
	const confirmed = isConfirmed(generation);
	const { status } = generation;
	const seen = lastError ? `It was ${status} when last checked` : `It is still ${status}`;
	const state = isUnknownState(status)
		? `Its last status was "${status}", which counts as running`
		: seen;
	return new GenerationError({
		title:
			status === 'completed'
				? 'The generation is completed, but it could not be fetched'
				: `The generation did not finish within ${timeoutMs / 1000} s`,
		details: sentences(
			confirmed
				? status !== 'completed' && state
				: 'Its status could not be checked. Whether the generation exists is unknown',
			lastError && `The last status check failed: ${lastError.message}`,
		),
		description:
			'Get it with Wait for Completion, at no charge. For later runs, raise Timeout or set On Timeout to Continue.',
		code: 'timeout',
		charge: confirmed ? 'paid' : 'none',
		generation,
	});
}

/** Builds the error for an item not sent before its timeout. `lastError`: the error of its last request, `null` if none. */
export function sentTooLate(timeoutMs: number, lastError: GenerationError | null): GenerationError {
	return new GenerationError({
		title: `The request could not be sent within ${inSeconds(timeoutMs)}`,
		details: lastError ? `The last request failed: ${lastError.message}` : '',
		description: 'Create fewer outputs at a time, or raise Timeout.',
		code: 'timeout',
	});
}

/** Builds the error for an item that was not sent: its request would fail as the request of the item `failed` did. */
export function notSent(
	cause: GenerationError,
	failed: Pick<CreateJob, 'itemIndex' | 'itemCount'>,
): GenerationError {
	return cause.with({
		title: `Skipped because ${itemNames([failed.itemIndex], failed.itemCount)} failed: ${cause.message}`,
		retry: 'never',
		charge: 'none',
		skipped: true,
	});
}

/** Builds the error for an item that was not sent, because the service asks to wait for longer than the item's timeout. */
export function heldTooLong(
	cause: GenerationError,
	leftMs: number,
	timeoutMs: number,
): GenerationError {
	return cause.with({
		details: `The service or a proxy asks to wait ${inSeconds(leftMs)} more (Retry-After). The Timeout of ${inSeconds(timeoutMs)} ends before that`,
		description: 'Try again later, or raise Timeout.',
		retry: 'never',
		charge: 'none',
	});
}

/** Converts an error to a GenerationError with the job's generation. A confirmed generation never has the charge `none`. */
export function errorOfJob(error: unknown, generation: KnownGeneration | null): GenerationError {
	const known =
		error instanceof GenerationError
			? error
			: new GenerationError({
					title: error instanceof Error ? error.message : String(error),
					description:
						'This is a bug in the node. Report it on GitHub, with its entry in n8n’s log.',
					code: 'unexpected_error',
					cause: error,
				});
	if (generation === null || known.generation !== null) return known;
	if (isConfirmed(generation)) {
		return known.with({ generation, charge: known.charge === 'none' ? 'paid' : known.charge });
	}
	if (known.code === 'generation_not_found') return known;
	const description = sentences(
		known.description,
		'Or get the generation with Wait for Completion, by its ID',
	);
	return known.with({ generation, description });
}

/** Returns the outcome of a job that threw an error. */
export function thrownOutcome<T>(error: unknown, generation: KnownGeneration | null): Outcome<T> {
	if (error instanceof CancelledError) return { kind: 'stopped', generation };
	return { kind: 'error', error: errorOfJob(error, generation) };
}
