import type { CreateRequest } from './api/client';
import { GenerationError, type GenerationErrorFields } from './api/errors';
import { sentences } from './text';
import type { CreateJob, Tried } from './job';

/** Errors of a creating request after which another model is worth trying (spec 7). */
const OF_THE_MODEL = new Set(['model_unavailable', 'model_not_found', 'unsupported_parameter']);

/** Returns the request with another model. */
export function withModel(request: CreateRequest, model: string): CreateRequest {
	return { ...request, body: { ...request.body, model } };
}

/** The attempts of one output within a step: how many failed, and which models were tried. */
export class Attempts {
	private readonly tried: Tried;

	constructor(
		private readonly job: Pick<CreateJob, 'retriesOnFailure' | 'fallbackModels' | 'tried'>,
	) {
		this.tried = job.tried ??= { failed: 0, fallbacks: 0 };
	}

	/** The fallback model of this attempt; `null` for the model of the request. */
	get model(): string | null {
		const { fallbacks } = this.tried;
		return fallbacks === 0 ? null : (this.job.fallbackModels?.[fallbacks - 1] ?? null);
	}

	/**
	 * Decides whether the output is created again, and moves on to the next model if that is it. A request that may have
	 * been charged is never followed by another model.
	 *
	 * @param error the error of the failed generation, or of the creating request after its own retries
	 */
	after(error: unknown): 'same model' | 'next model' | 'stop' {
		if (!(error instanceof GenerationError)) return 'stop';
		const { charge, code, fields } = error;
		const { retriesOnFailure = 0, fallbackModels = [] } = this.job;
		if (charge === 'refunded') {
			this.tried.failed++;
			this.tried.lastFailure = fields;
			if (this.tried.failed <= retriesOnFailure) return 'same model';
		}
		const certain = charge === 'refunded' || (charge === 'none' && OF_THE_MODEL.has(code));
		if (!certain || this.tried.fallbacks >= fallbackModels.length) return 'stop';
		this.tried.fallbacks++;
		return 'next model';
	}

	/** Adds to the last error what was tried before it. If no further attempt was sent, the last failure is that error. */
	explain(thrown: unknown): unknown {
		if (!(thrown instanceof GenerationError)) return thrown;
		const { lastFailure } = this.tried;
		const error = thrown.skipped && lastFailure ? notAgain(lastFailure, thrown) : thrown;
		const { fallbackModels = [] } = this.job;
		const { failed, fallbacks } = this.tried;
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
