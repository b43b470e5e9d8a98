import { GenerationError, type GenerationErrorFields } from './api/errors';
import { sentences } from './text';
import type { CreateJob } from './job';

/** Errors of a creating request after which another model is worth trying (spec 7). */
const OF_THE_MODEL = new Set(['model_unavailable', 'model_not_found', 'unsupported_parameter']);

/** The attempts of one output within a step: how many failed, and which models were tried. */
type Attempted = Pick<CreateJob, 'retriesOnFailure' | 'fallbackModels' | 'tried'>;

/** Returns the fallback model of the current attempt; `null` for the model of the request. */
export function fallbackOf({ fallbackModels = [], tried }: Attempted): string | null {
	return fallbackModels[(tried?.fallbacks ?? 0) - 1] ?? null;
}

/**
 * Decides whether an output is created again, and moves its job on to the next model if that is it. A request that may
 * have been charged is never followed by another model.
 *
 * @param job its `tried` is updated
 * @param error the error of the failed generation, or of the creating request after its own retries
 */
export function attemptAfter(job: Attempted, error: unknown): 'same model' | 'next model' | 'stop' {
	if (!(error instanceof GenerationError)) return 'stop';
	const { charge, code, fields } = error;
	const { retriesOnFailure = 0, fallbackModels = [] } = job;
	const tried = (job.tried ??= { failed: 0, fallbacks: 0 });
	if (charge === 'refunded') {
		tried.failed++;
		tried.lastFailure = fields;
		if (tried.failed <= retriesOnFailure) return 'same model';
	}
	const certain = charge === 'refunded' || (charge === 'none' && OF_THE_MODEL.has(code));
	if (!certain || tried.fallbacks >= fallbackModels.length) return 'stop';
	tried.fallbacks++;
	return 'next model';
}

/**
 * Adds to the last error of an output what was tried before it. If no further attempt was sent, the last failure is that
 * error.
 */
export function explainAttempts(
	{ fallbackModels = [], tried }: Attempted,
	thrown: unknown,
): unknown {
	if (!tried || !(thrown instanceof GenerationError)) return thrown;
	const { failed, fallbacks, lastFailure } = tried;
	const error = thrown.skipped && lastFailure ? notAgain(lastFailure, thrown) : thrown;
	const ended = error.charge === 'refunded';
	const models = fallbackModels.slice(0, fallbacks);
	if (models.length === 0 && failed <= (ended ? 1 : 0)) return error;
	return error.with({
		description: sentences(
			failed > 0 && failures(failed),
			models.length > 0 && `Fallback models that were tried: ${models.join(', ')}`,
			error.description,
		),
	});
}

function notAgain(failure: GenerationErrorFields, { message }: GenerationError): GenerationError {
	const description = sentences(`It was not created again: ${message}`, failure.description);
	return new GenerationError({ ...failure, description });
}

function failures(count: number): string {
	return count === 1
		? '1 generation of this item failed and was refunded'
		: `${count} generations of this item failed and were refunded`;
}
