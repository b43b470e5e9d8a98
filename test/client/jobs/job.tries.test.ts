import { GenerationError, type Charge } from '../../../client/api/errors';
import { decideNextTry, type CreateJob } from '../../../client/jobs/job';

const error = (code: string, charge: Charge) =>
	new GenerationError({ title: 'Not created', description: '', code, charge });

/** Returns the next step after an error of an output that has this many models left. */
function next(thrown: GenerationError, left: number, settings: Partial<CreateJob>) {
	const fallbackModels = Array.from({ length: left }, (_, index) => `fallback-${index}`);
	return decideNextTry({ fallbackModels, ...settings }, thrown);
}

describe('the next step after an output that was not created', () => {
	it.each<[string, number, number, number, ReturnType<typeof decideNextTry>]>([
		['no retries and no fallbacks', 1, 0, 0, 'stop'],
		['a retry is left', 1, 0, 1, 'same model'],
		['a retry is left, and a model', 1, 1, 1, 'same model'],
		['the retries are used up', 2, 0, 1, 'stop'],
		['the retries are used up, and a model is left', 2, 1, 1, 'next model'],
		['five retries', 5, 0, 5, 'same model'],
		['five retries are used up', 6, 0, 5, 'stop'],
	])('after a failed generation: %s', (_, failures, left, retriesOnFailure, follows) => {
		const tried = { failed: failures - 1, fallbacks: 0 };
		const failed = error('generation_failed', 'refunded');
		expect(next(failed, left, { retriesOnFailure, tried })).toBe(follows);
	});

	it.each<[string, Charge, ReturnType<typeof decideNextTry>]>([
		['model_unavailable', 'none', 'next model'],
		['model_not_found', 'none', 'next model'],
		['unsupported_parameter', 'none', 'next model'],
		// A gateway that sends the service's code: the request may have reached the service.
		['model_unavailable', 'unknown', 'stop'],
		['uncertain_charge', 'unknown', 'stop'],
		['insufficient_credits', 'none', 'stop'],
		['invalid_parameter', 'none', 'stop'],
		['server_error', 'none', 'stop'],
		['download_failed', 'paid', 'stop'],
		['timeout', 'paid', 'stop'],
	])('after %s with charge %s', (code, charge, follows) => {
		const settings = { retriesOnFailure: 5 };
		expect(next(error(code, charge), 1, settings)).toBe(follows);
		expect(next(error(code, charge), 0, settings)).toBe('stop');
	});
});
