import { nextAttempt, type NextAttempt } from '../../client/attempts';
import type { Charge } from '../../client/api/errors';

const failed = { charge: 'refunded', code: 'generation_failed' } as const;
const refused = (code: string, charge: Charge = 'none') => ({ charge, code });

describe('what follows an output that was not created', () => {
	it.each<[string, number, number, number, NextAttempt]>([
		['no retries and no fallbacks', 1, 0, 0, 'stop'],
		['a retry is left', 1, 0, 1, 'same model'],
		['a retry is left, and a model', 1, 1, 1, 'same model'],
		['the retries are used up', 2, 0, 1, 'stop'],
		['the retries are used up, and a model is left', 2, 1, 1, 'next model'],
		['five retries', 5, 0, 5, 'same model'],
		['five retries are used up', 6, 0, 5, 'stop'],
	])('after a failed generation: %s', (_, failures, left, retriesOnFailure, next) => {
		expect(nextAttempt(failed, failures, left, { retriesOnFailure })).toBe(next);
	});

	it.each<[string, Charge, NextAttempt]>([
		['model_unavailable', 'none', 'next model'],
		['model_not_found', 'none', 'next model'],
		['unsupported_parameter', 'none', 'next model'],
		// A gateway with the service's code: the request may have passed.
		['model_unavailable', 'unknown', 'stop'],
		['uncertain_charge', 'unknown', 'stop'],
		['insufficient_credits', 'none', 'stop'],
		['invalid_parameter', 'none', 'stop'],
		['server_error', 'none', 'stop'],
		['download_failed', 'paid', 'stop'],
		['timeout', 'paid', 'stop'],
	])('after %s with charge %s', (code, charge, next) => {
		const settings = { retriesOnFailure: 5 };
		expect(nextAttempt(refused(code, charge), 0, 1, settings)).toBe(next);
		expect(nextAttempt(refused(code, charge), 0, 0, settings)).toBe('stop');
	});
});
