import {
	CancelledError,
	eachOnce,
	GenerationError,
	sentences,
	theService,
	titled,
	type KnownGeneration,
} from '../wire/errors';
import type { Generation, GenerationItem } from '../wire/generation';

/** What became of one job. `output` is what the pipeline's `finish` made of a completed generation. */
export type Outcome<T> =
	| { kind: 'done'; generation: GenerationItem; output: T | null }
	| { kind: 'error'; error: GenerationError }
	/** The step ended before the job did; its generation, if it came to one, goes on at the service. */
	| { kind: 'stopped'; generation: KnownGeneration | null };

/**
 * Whether a generation is known to exist, and so may be called paid for: the service confirmed it, or we created it. An
 * id that a user gave and that no status check has confirmed has no status.
 */
export function isConfirmed({ status }: KnownGeneration): boolean {
	return Boolean(status);
}

/** A generation that we created. Where its status was never read it is pending, as in the creating answer (spec 4.1). */
export function created(generation: KnownGeneration | null): KnownGeneration | null {
	return generation && { ...generation, status: generation.status || 'pending' };
}

/** The service gave up on a generation, and gave the credits back (spec 3). */
export function failedGeneration({ item, failureReason }: Generation): GenerationError {
	const title = titled('The generation failed', failureReason);
	return new GenerationError({
		title,
		description: sentences(
			theService(failureReason, title),
			'Change the prompt or the model, or try again',
		),
		code: 'generation_failed',
		charge: 'refunded',
		generation: item,
	});
}

/**
 * A generation did not end in time.
 *
 * @param trouble why its last status check failed, if it did
 */
export function timedOutGeneration(
	generation: KnownGeneration,
	timeoutMs: number,
	trouble: GenerationError | null,
): GenerationError {
	const confirmed = isConfirmed(generation);
	return new GenerationError({
		title: `The generation did not finish within ${timeoutMs / 1000} s`,
		description: sentences(
			confirmed
				? `It ${trouble ? 'was' : 'is still'} ${generation.status}${trouble ? ' when last checked' : ''}; it is paid for and goes on`
				: 'Its status could not be checked, so it is not known whether it exists. Status checks charge nothing',
			trouble && `The last trouble while looking: ${trouble.message}`,
			'Fetch it with Wait for Completion, raise Timeout, or set On Timeout to Continue',
		),
		code: 'timeout',
		charge: confirmed ? 'paid' : 'none',
		generation,
	});
}

/** An item that was not sent because the service refused an earlier one in a way that would hit this one too. */
export function notSent(cause: GenerationError, itemIndex: number): GenerationError {
	return cause.with({
		title: `Not sent, as item ${itemIndex} was refused: ${cause.message}`,
		retry: 'never',
		charge: 'none',
		unsent: true,
	});
}

/**
 * What an earlier try of the step has paid for is not in the account that is asked now.
 *
 * @param error of the look at it
 */
export function inAnotherAccount(error: GenerationError, id: string): GenerationError {
	return error.with({
		title: 'What an earlier try has paid for is not in this account',
		description: `The service does not know generation ${id}. Choose the credential with which it was made, and retry. To have it made and paid for anew, start a new execution.`,
		generation: { id },
		charge: 'paid',
	});
}

/** Whether a look was told that there is no such generation. */
export function isUnknown(error: unknown): error is GenerationError {
	return error instanceof GenerationError && error.code === 'generation_not_found';
}

/** Any error of a job as one that says what is known of its generation. Programming errors are not hidden, only carried. */
export function errorOfJob(error: unknown, generation: KnownGeneration | null): GenerationError {
	const known =
		error instanceof GenerationError
			? error
			: new GenerationError({
					title: error instanceof Error ? error.message : String(error),
					description: 'This should not happen. Please report it, with what n8n’s log says of it.',
					code: 'unexpected_error',
					cause: error,
				});
	if (generation === null || known.generation !== null) return known;
	if (!isConfirmed(generation)) {
		return known.code === 'generation_not_found'
			? known.with({ title: `Generation ${generation.id} does not exist` })
			: known.with({
					generation,
					description: sentences(
						known.description,
						'Nothing was charged for looking: wait for it again by its ID',
					),
				});
	}
	return known.with({ generation, charge: known.charge === 'none' ? 'paid' : known.charge });
}

/** The outcome of a job that threw. */
export function thrownOutcome<T>(error: unknown, generation: KnownGeneration | null): Outcome<T> {
	if (error instanceof CancelledError) return { kind: 'stopped', generation };
	return { kind: 'error', error: errorOfJob(error, generation) };
}

/** Every generation that a step has paid for and that has not been refunded, as far as its outcomes tell. */
export function paidGenerations(outcomes: Array<Outcome<unknown>>): KnownGeneration[] {
	const known = outcomes.flatMap((outcome) => {
		if (outcome.kind === 'error') {
			const { charge, generation } = outcome.error;
			return generation && charge === 'paid' ? [generation] : [];
		}
		const { generation } = outcome;
		return generation && isConfirmed(generation) && generation.status !== 'failed'
			? [generation]
			: [];
	});
	return eachOnce(known);
}

/** The ids that a user gave and that no status check of the step has confirmed: they may exist, or be typing mistakes. */
export function uncheckedIds(outcomes: Array<Outcome<unknown>>): string[] {
	const known = outcomes.flatMap((outcome) => {
		if (outcome.kind !== 'error') return outcome.generation ? [outcome.generation] : [];
		return outcome.error.generation && outcome.error.charge === 'none'
			? [outcome.error.generation]
			: [];
	});
	const confirmed = new Set(known.filter(isConfirmed).map(({ id }) => id));
	return eachOnce(known)
		.map(({ id }) => id)
		.filter((id) => !confirmed.has(id));
}

/** The items of which nobody knows whether they were charged: the answers to their requests were lost. */
export function uncertainItems(outcomes: Array<Outcome<unknown>>): number[] {
	return outcomes.flatMap((outcome, itemIndex) =>
		outcome.kind === 'error' && outcome.error.charge === 'unknown' ? [itemIndex] : [],
	);
}
