import type { ServiceResponse } from '../../../client/ports';
import { decideRetry, type RetryDecision } from '../../../client/api/retry';
import { errorFromConnection } from '../../../client/api/connection';
import {
	errorFromResponse,
	unreadableAnswer,
	type GenerationError,
} from '../../../client/api/errors';
import { networkError, noSlot, refusal } from '../../support/answers';

const said = (status: number, code: string) => errorFromResponse(refusal(status, code), true);
const foreign = (status: number, body: unknown = '<html>') =>
	errorFromResponse({ status, body } as ServiceResponse, true);
const broken = (code: string, syscall?: string) =>
	errorFromConnection(networkError(code, syscall), true);

const first = { retries: 0 };
const asked = { retries: 0, mayResend: true };

/** The decision without and with the user's consent to a possible second charge. */
const TABLE: Array<[string, GenerationError, RetryDecision, RetryDecision?]> = [
	['no slot', errorFromResponse(noSlot(10), true), 'slot'],
	['the daily limit of an app', said(429, 'CONNECTION_LIMIT_REACHED'), 'stop'],
	['500 of the service', said(500, 'server_error'), 'backoff'],
	['502 of the service', said(502, 'model_unavailable'), 'backoff'],
	['503 of the service', said(503, 'service_unavailable'), 'backoff'],
	['a 429 from a proxy', foreign(429), 'backoff'],
	['a refused connection', broken('ECONNREFUSED', 'connect'), 'backoff'],
	['an unknown host name', broken('ENOTFOUND', 'getaddrinfo'), 'stop'],
	['a rejected certificate', broken('CERT_HAS_EXPIRED'), 'stop'],
	['no credits', said(402, 'insufficient_credits'), 'stop'],
	['a rejected API key', said(401, 'authentication_error'), 'stop'],
	['an unsupported parameter', said(422, 'unsupported_parameter'), 'stop'],
	['a redirect', foreign(302), 'stop'],
	['a 403 from a proxy', foreign(403), 'stop'],
	['a reset', broken('ECONNRESET', 'read'), 'stop', 'resend'],
	['a timeout', broken('ECONNABORTED'), 'stop', 'resend'],
	['a 504 from a proxy', foreign(504), 'stop', 'resend'],
	['a 408 from a proxy', foreign(408), 'stop', 'resend'],
	['a 499 from a proxy', foreign(499), 'stop', 'resend'],
	['a 524 from a proxy', foreign(524), 'stop', 'resend'],
	...['timeout_error', 'server_error', 'gateway_error'].map(
		(type): [string, GenerationError, RetryDecision, RetryDecision] => [
			`a proxy’s error in the service’s format: ${type}`,
			foreign(504, { error: { code: '504', type, message: 'Timeout', param: null } }),
			'stop',
			'resend',
		],
	),
	[
		'a code of the service with a status that does not belong to it',
		foreign(504, { error: { code: 'service_unavailable', type: 'server_error', message: '' } }),
		'stop',
		'resend',
	],
	[
		'a success without a generation',
		unreadableAnswer({ status: 200, body: '' }, true),
		'stop',
		'resend',
	],
];

const ASKED = TABLE.map(([name, error, decision, ask = decision]) => [name, error, ask] as const);

describe('after a failed creating request', () => {
	it.each(TABLE)('nothing is charged twice by default: %s', (_, error, decision) => {
		expect(decideRetry(error, first)).toBe(decision);
	});

	it.each(ASKED)(
		'the request is sent again after a lost response if the user chose that: %s',
		(_, error, decision) => {
			expect(decideRetry(error, asked)).toBe(decision);
		},
	);

	it('there are at most six retries, or the maximum of the request', () => {
		const passing = said(503, 'service_unavailable');
		expect(decideRetry(passing, { retries: 5 })).toBe('backoff');
		expect(decideRetry(passing, { retries: 6 })).toBe('stop');
		expect(decideRetry(passing, { retries: 4, maxRetries: 4 })).toBe('stop');
		expect(decideRetry(passing, { retries: 99, maxRetries: Infinity })).toBe('backoff');
	});

	it('nothing is sent after the timeout', () => {
		const late = { ...asked, inTime: false };
		expect(decideRetry(said(500, 'server_error'), late)).toBe('stop');
		expect(decideRetry(foreign(504), late)).toBe('stop');
	});

	it('nothing is sent if every further request would also fail', () => {
		const nobody = broken('ECONNREFUSED', 'connect').with({ fatalForStep: true });
		expect(decideRetry(nobody, first)).toBe('stop');
	});

	it('nothing is sent if a generation exists', () => {
		const paid = said(500, 'server_error').with({ charge: 'paid' });
		expect(decideRetry(paid, asked)).toBe('stop');
	});
});
