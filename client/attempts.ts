import { GenerationError } from './api/errors';
import { sentences } from './text';
import type { CreateJob } from './job';

/** Errors of a creating request after which another model is worth trying (spec 7). */
const OF_THE_MODEL = new Set(['model_unavailable', 'model_not_found', 'unsupported_parameter']);

type Attempted = Pick<CreateJob, 'retriesOnFailure' | 'fallbackModels' | 'tried'>;

/**
 * Decides after an error whether an output is created again, and updates `tried` of its job. A request that may have
 * been charged is never followed by another model.
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

/** Adds to the last error of an output what was tried before it. */
export function explainAttempts(job: Attempted, thrown: unknown): unknown {
	const { fallbackModels = [], tried } = job;
	if (!tried || !(thrown instanceof GenerationError)) return thrown;
	const { failed, fallbacks, lastFailure } = tried;
	let error = thrown;
	if (thrown.skipped && lastFailure) {
		// No further attempt was sent, so the last failure is the error of the output.
		const notAgain = `It was not created again: ${thrown.message}`;
		const description = sentences(notAgain, lastFailure.description);
		error = new GenerationError({ ...lastFailure, description });
	}
	const models = fallbackModels.slice(0, fallbacks);
	if (models.length === 0 && failed <= (error.charge === 'refunded' ? 1 : 0)) return error;
	const failures = failed === 1 ? '1 generation' : `${failed} generations`;
	const description = sentences(
		failed > 0 && `${failures} of this item failed and ${failed === 1 ? 'was' : 'were'} refunded`,
		models.length > 0 && `Fallback models that were tried: ${models.join(', ')}`,
		error.description,
	);
	return error.with({ description });
}
