import type { ServiceResponse } from '../../../client/ports';
import { nextMove, type Move, type Tried } from '../../../client/paying/next-move';
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

const first: Tried = { retries: 0, sinceMs: 0, resubmissions: 0 };
const asked = { onUncertainCharge: 'resubmit', timeoutMs: 600_000 } as const;
const unasked = { onUncertainCharge: 'error', timeoutMs: 600_000 } as const;

/** What comes next where the user does not take the risk of paying twice, and where he does. */
const TABLE: Array<[string, GenerationError, Move, Move?]> = [
	['no slot', errorFromResponse(noSlot(10), true), 'wait for a slot'],
	['the daily limit of an app', said(429, 'CONNECTION_LIMIT_REACHED'), 'give up'],
	['500 of the service', said(500, 'server_error'), 'back off'],
	['502 of the service', said(502, 'model_unavailable'), 'back off'],
	['503 of the service', said(503, 'service_unavailable'), 'back off'],
	['a 429 of a gatekeeper', foreign(429), 'back off'],
	['nobody at the port', broken('ECONNREFUSED', 'connect'), 'back off'],
	['an unknown name', broken('ENOTFOUND', 'getaddrinfo'), 'back off'],
	['a refused certificate', broken('CERT_HAS_EXPIRED'), 'give up'],
	['no credits', said(402, 'insufficient_credits'), 'give up'],
	['a key that is refused', said(401, 'authentication_error'), 'give up'],
	['a parameter', said(422, 'unsupported_parameter'), 'give up'],
	['a redirect', foreign(302), 'give up'],
	['a gatekeeper’s 403', foreign(403), 'give up'],
	['a reset', broken('ECONNRESET', 'read'), 'give up', 'send again'],
	['a timeout', broken('ECONNABORTED'), 'give up', 'send again'],
	['a 504 on the way', foreign(504), 'give up', 'send again'],
	['a 408 on the way', foreign(408), 'give up', 'send again'],
	['a 499 on the way', foreign(499), 'give up', 'send again'],
	['a 524 on the way', foreign(524), 'give up', 'send again'],
	...['timeout_error', 'server_error', 'gateway_error'].map(
		(type): [string, GenerationError, Move, Move] => [
			`a proxy’s error of the service’s form: ${type}`,
			foreign(504, { error: { code: '504', type, message: 'Timeout', param: null } }),
			'give up',
			'send again',
		],
	),
	[
		'a code of the service with a status that it does not have',
		foreign(504, { error: { code: 'service_unavailable', type: 'server_error', message: '' } }),
		'give up',
		'send again',
	],
	[
		'a success without a generation',
		unreadableAnswer({ status: 200, body: '' }, true),
		'give up',
		'send again',
	],
];

const ASKED = TABLE.map(([name, error, move, ask = move]) => [name, error, ask] as const);

describe('after a creating request that brought no generation', () => {
	it.each(TABLE)('comes what can cost nothing twice: %s', (_, error, move) => {
		expect(nextMove(error, first, unasked)).toBe(move);
	});

	it.each(ASKED)('comes what the user has taken the risk for: %s', (_, error, move) => {
		expect(nextMove(error, first, asked)).toBe(move);
	});

	it('comes another try six times at most, and three times after a lost answer', () => {
		const passing = said(503, 'service_unavailable');
		expect(nextMove(passing, { ...first, retries: 5 }, asked)).toBe('back off');
		expect(nextMove(passing, { ...first, retries: 6 }, asked)).toBe('give up');
		const lost = foreign(504);
		expect(nextMove(lost, { ...first, resubmissions: 2 }, asked)).toBe('send again');
		expect(nextMove(lost, { ...first, resubmissions: 3 }, asked)).toBe('give up');
	});

	it('comes nothing more once the timeout is over', () => {
		const late = { ...first, sinceMs: 600_000 };
		expect(nextMove(said(500, 'server_error'), late, unasked)).toBe('give up');
	});

	it('comes nothing where every further request would fail too', () => {
		const nobody = broken('ECONNREFUSED', 'connect').with({ fatalForStep: true });
		expect(nextMove(nobody, first, unasked)).toBe('give up');
	});

	it('comes nothing where a generation exists', () => {
		const paid = said(500, 'server_error').with({ charge: 'paid' });
		expect(nextMove(paid, first, asked)).toBe('give up');
	});
});
