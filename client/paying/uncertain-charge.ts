import { GenerationError, sentences } from '../wire/errors';

/**
 * The error of an item whose creating request went out without an answer coming back. Nothing sends it again by itself.
 *
 * @param cause what happened to the request; `null` where an earlier try of the step left it open
 * @param sent how many requests went out of which nobody knows what came
 */
export function uncertainCharge(cause: GenerationError | null, sent = 1): GenerationError {
	return new GenerationError({
		title:
			sent > 1
				? `The answers to ${sent} creating requests were lost: up to ${sent} may have been charged`
				: 'The answer to a creating request was lost: it may have been charged',
		description: sentences(
			cause === null ? 'It was sent in an earlier try of this step' : cause.message,
			cause?.status ? `HTTP ${cause.status}` : null,
			'To be safe it is not sent again by itself. Look in the service’s library or at the balance whether the generation exists: if so, fetch it with Wait for Completion; if not, set On Uncertain Charge to Resubmit and retry',
		),
		code: 'uncertain_charge',
		status: cause?.status,
		charge: 'unknown',
	});
}
