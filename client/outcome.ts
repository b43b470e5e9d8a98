import { CancelledError, GenerationError, inTitle, type KnownGeneration } from './api/errors';
import type { Generation, GenerationItem } from './api/generation';
import type { CreateJob } from './job';
import { itemNames, sentences } from './text';

/** The result of one job. `output` is what the pipeline's `finish` made of a completed generation. */
export type Outcome<T> = (
	| { kind: 'done'; generation: GenerationItem; output: T | null }
	| { kind: 'error'; error: GenerationError }
	/** The step ended before the job did. Its generation continues at the service. */
	| { kind: 'stopped'; generation: KnownGeneration | null }
) & {
	/** If omitted, the position in the list counts. */
	itemIndex?: number;
};

/** True if a generation is known to exist: only then may it be called paid for. A user's id has no status at first. */
export function isConfirmed({ status }: KnownGeneration): boolean {
	return Boolean(status);
}

/** Completes a generation that this project created: it is pending unless its status is known (spec 4.1). */
export function created(generation: KnownGeneration | null): KnownGeneration | null {
	return generation && { ...generation, status: generation.status || 'pending' };
}

/** Builds the error for a failed generation, which the service has refunded (spec 3). */
export function failedGeneration({ item, failureReason }: Generation): GenerationError {
	const reason = inTitle(failureReason);
	return new GenerationError({
		title: reason === null ? 'The generation failed' : `The generation failed: ${reason}`,
		details: reason === null && failureReason ? `The service says: ${failureReason}` : '',
		description: 'Change the prompt or the model, or try again.',
		code: 'generation_failed',
		charge: 'refunded',
		generation: item,
	});
}

/** Builds the error for a generation that did not end in time. `lastError`: its last status check failed. */
export function timedOutGeneration(
	generation: KnownGeneration,
	timeoutMs: number,
	lastError: GenerationError | null,
): GenerationError {
	const confirmed = isConfirmed(generation);
	const { status } = generation;
	const state = lastError ? `It was ${status} when last checked` : `It is still ${status}`;
	return new GenerationError({
		title: `The generation did not finish within ${timeoutMs / 1000} s`,
		details: sentences(
			confirmed ? state : 'Its status could not be checked, so it is unknown whether it exists',
			lastError && `The last status check failed: ${lastError.message}`,
		),
		description:
			'Get it with Wait for Completion, at no charge. For later runs, raise Timeout or set On Timeout to Continue.',
		code: 'timeout',
		charge: confirmed ? 'paid' : 'none',
		generation,
	});
}

/** Builds the error for an item that was not sent, as its request would fail like that of an earlier item. */
export function notSent(
	cause: GenerationError,
	{ itemIndex, itemCount }: Pick<CreateJob, 'itemIndex' | 'itemCount'>,
): GenerationError {
	return cause.with({
		title: `Skipped because ${itemNames([itemIndex], itemCount)} failed: ${cause.message}`,
		retry: 'never',
		charge: 'none',
		skipped: true,
	});
}

/** Builds the error for a paid generation whose status check says that it does not exist. */
export function inAnotherAccount(error: GenerationError, id: string): GenerationError {
	return error.with({
		title: 'The service does not know the generation of an earlier attempt',
		details: `Generation ${id} may belong to another account`,
		description:
			'Choose the credential that created it, and retry. A new execution creates all items again, and is charged for them.',
		generation: { id },
		charge: 'paid',
	});
}

/** Converts any error of a job. Adds a missing generation; a confirmed one turns the charge `none` into `paid`. */
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
	const description = sentences(known.description, 'Or wait for the generation again by its ID');
	return known.with({ generation, description });
}

/** Returns the outcome of a job that threw an error. */
export function thrownOutcome<T>(error: unknown, generation: KnownGeneration | null): Outcome<T> {
	if (error instanceof CancelledError) return { kind: 'stopped', generation };
	return { kind: 'error', error: errorOfJob(error, generation) };
}
