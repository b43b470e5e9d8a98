import type { ServiceResponse } from '../../../client/ports';
import { backoffDelay, decideRetry } from '../../../client/api/retry';
import { errorFromConnection } from '../../../client/api/connection';
import { errorFromResponse, type GenerationError } from '../../../client/api/errors';
import { networkError, noSlot, refusal } from '../../support/answers';

type RetryDecision = ReturnType<typeof decideRetry>;

const said = (status: number, code: string) => errorFromResponse(refusal(status, code), true);
const foreign = (status: number, body: unknown = '<html>') =>
	errorFromResponse({ status, body } as ServiceResponse, true);
const broken = (code: string, syscall?: string) =>
	errorFromConnection(networkError(code, syscall), true);

const first = { retries: 0 };
const asked = { retries: 0, mayResend: true };

describe('after a failed creating request', () => {
	it.each<[string, GenerationError, RetryDecision, RetryDecision?]>([
		['no slot', errorFromResponse(noSlot(10), true), 'slot'],
		['503 of the service', said(503, 'service_unavailable'), 'backoff'],
		['a 429 from a proxy', foreign(429), 'backoff'],
		['a refused connection', broken('ECONNREFUSED', 'connect'), 'backoff'],
		['an unknown host name', broken('ENOTFOUND', 'getaddrinfo'), 'stop'],
		['no credits', said(402, 'insufficient_credits'), 'stop'],
		['a 403 from a proxy', foreign(403), 'stop'],
		['a timeout', broken('ECONNABORTED'), 'stop', 'resend'],
		['a 504 from a proxy', foreign(504), 'stop', 'resend'],
	])(
		'nothing is charged twice, unless the user accepts that after a lost response: %s',
		(_, error, decision, ask = decision) => {
			expect([decideRetry(error, first), decideRetry(error, asked)]).toEqual([decision, ask]);
			expect(decideRetry(error.with({ charge: 'paid' }), asked)).toBe('stop');
		},
	);

	it('there are at most six retries, and none after the timeout', () => {
		const passing = said(503, 'service_unavailable');
		expect(decideRetry(passing, { retries: 5 })).toBe('backoff');
		expect(decideRetry(passing, { retries: 6 })).toBe('stop');
		expect(decideRetry(passing, { retries: 99, maxRetries: Infinity })).toBe('backoff');
		expect(decideRetry(passing, { ...asked, inTime: false })).toBe('stop');
		expect(decideRetry(foreign(504), { ...asked, inTime: false })).toBe('stop');
	});

	it('the pause doubles from 1 s up to 30 s, with jitter', () => {
		expect([0, 1, 2, 3, 99].map((retries) => backoffDelay(retries, () => 0))).toEqual([
			...[1_000, 2_000, 4_000, 8_000, 15_000],
		]);
		expect(backoffDelay(99, () => 0.999_999)).toBeCloseTo(30_000, -2);
	});
});
