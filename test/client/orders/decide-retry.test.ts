import type { ServiceResponse } from '../../../client/ports';
import {
	decideRetry,
	type RetryDecision,
	type SentRequests,
} from '../../../client/orders/decide-retry';
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

const first: SentRequests = { retries: 0, sinceMs: 0, resubmissions: 0 };
const asked = { onUncertainCharge: 'resubmit', timeoutMs: 600_000 } as const;
const unasked = { onUncertainCharge: 'error', timeoutMs: 600_000 } as const;

/** The decision without and with the user's consent to pay twice. */
const TABLE: Array<[string, GenerationError, RetryDecision, RetryDecision?]> = [
	['no slot', errorFromResponse(noSlot(10), true), 'slot'],
	['the daily limit of an app', said(429, 'CONNECTION_LIMIT_REACHED'), 'stop'],
	['500 of the service', said(500, 'server_error'), 'backoff'],
	['502 of the service', said(502, 'model_unavailable'), 'backoff'],
	['503 of the service', said(503, 'service_unavailable'), 'backoff'],
	['a 429 of a gatekeeper', foreign(429), 'backoff'],
	['nobody at the port', broken('ECONNREFUSED', 'connect'), 'backoff'],
	['an unknown name', broken('ENOTFOUND', 'getaddrinfo'), 'backoff'],
	['a refused certificate', broken('CERT_HAS_EXPIRED'), 'stop'],
	['no credits', said(402, 'insufficient_credits'), 'stop'],
	['a key that is refused', said(401, 'authentication_error'), 'stop'],
	['a parameter', said(422, 'unsupported_parameter'), 'stop'],
	['a redirect', foreign(302), 'stop'],
	['a gatekeeper’s 403', foreign(403), 'stop'],
	['a reset', broken('ECONNRESET', 'read'), 'stop', 'resend'],
	['a timeout', broken('ECONNABORTED'), 'stop', 'resend'],
	['a 504 on the way', foreign(504), 'stop', 'resend'],
	['a 408 on the way', foreign(408), 'stop', 'resend'],
	['a 499 on the way', foreign(499), 'stop', 'resend'],
	['a 524 on the way', foreign(524), 'stop', 'resend'],
	...['timeout_error', 'server_error', 'gateway_error'].map(
		(type): [string, GenerationError, RetryDecision, RetryDecision] => [
			`a proxy’s error of the service’s form: ${type}`,
			foreign(504, { error: { code: '504', type, message: 'Timeout', param: null } }),
			'stop',
			'resend',
		],
	),
	[
		'a code of the service with a status that it does not have',
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
		expect(decideRetry(error, first, unasked)).toBe(decision);
	});

	it.each(ASKED)(
		'a lost response is followed by another request if the user chose that: %s',
		(_, error, decision) => {
			expect(decideRetry(error, first, asked)).toBe(decision);
		},
	);

	it('there are six retries at most, and three after a lost response', () => {
		const passing = said(503, 'service_unavailable');
		expect(decideRetry(passing, { ...first, retries: 5 }, asked)).toBe('backoff');
		expect(decideRetry(passing, { ...first, retries: 6 }, asked)).toBe('stop');
		const lost = foreign(504);
		expect(decideRetry(lost, { ...first, resubmissions: 2 }, asked)).toBe('resend');
		expect(decideRetry(lost, { ...first, resubmissions: 3 }, asked)).toBe('stop');
	});

	it('nothing is sent after the timeout', () => {
		const late = { ...first, sinceMs: 600_000 };
		expect(decideRetry(said(500, 'server_error'), late, unasked)).toBe('stop');
	});

	it('nothing is sent if every further request would fail too', () => {
		const nobody = broken('ECONNREFUSED', 'connect').with({ fatalForStep: true });
		expect(decideRetry(nobody, first, unasked)).toBe('stop');
	});

	it('nothing is sent if a generation exists', () => {
		const paid = said(500, 'server_error').with({ charge: 'paid' });
		expect(decideRetry(paid, first, asked)).toBe('stop');
	});
});
