import fc from 'fast-check';

import { errorFromConnection } from '../../../client/api/connection';
import { networkError } from '../../support/answers';

/** Wraps an error several times, as HTTP clients and n8n do. */
function wrapped(error: unknown, times: number): unknown {
	return times === 0 ? error : new Error('Wrapped', { cause: wrapped(error, times - 1) });
}

/** Returns an error with Node's fields, or with those of a library that wraps it. */
function failure(fields: object): Error {
	return Object.assign(new Error('Failed'), fields);
}

/** No request was sent, so nothing was charged. */
const NEVER_SENT: Array<[string, unknown]> = [
	['a refused connection', networkError('ECONNREFUSED', 'connect')],
	['an unknown host name', networkError('ENOTFOUND', 'getaddrinfo')],
	['a name server that does not respond', networkError('EAI_AGAIN', 'getaddrinfo')],
	['a connection that is not established in time', networkError('ETIMEDOUT', 'connect')],
	['a reset while connecting', networkError('ECONNRESET', 'connect')],
	['no route to the host', networkError('EHOSTUNREACH', 'connect')],
	['a host that is down', networkError('EHOSTDOWN', 'connect')],
	['no address to send from', networkError('EADDRNOTAVAIL', 'connect')],
	[
		'a load balancer that closes the connection before TLS',
		failure({
			code: 'ECONNRESET',
			message: 'Client network socket disconnected before secure TLS connection was established',
		}),
	],
	[
		'a proxy that closes the connection before it has connected',
		failure({ message: 'Proxy connection ended before receiving CONNECT response' }),
	],
];

/** No request was sent, and retrying would not help. */
const MISCONFIGURED: Array<[string, unknown]> = [
	['an invalid URL', failure({ code: 'ERR_INVALID_URL' })],
	['a protocol other than http and https', failure({ code: 'ERR_BAD_REQUEST' })],
	['a port that does not exist', failure({ code: 'ERR_SOCKET_BAD_PORT' })],
	[
		'https to a port that speaks http',
		failure({
			code: 'EPROTO',
			syscall: 'write',
			message: 'write EPROTO 80:error:0A00010B:…:wrong version number:…',
		}),
	],
	[
		'an address that n8n does not allow',
		failure({ name: 'SsrfBlockedIpError', message: 'The request was blocked' }),
	],
	...['tlsv1 alert protocol version', 'unsupported protocol', 'tlsv1 unrecognized name'].map(
		(words): [string, unknown] => [
			`a server that rejects the TLS connection: ${words}`,
			failure({
				code: 'EPROTO',
				message: `write EPROTO 80:error:0A00042E:SSL routines::${words}:…`,
			}),
		],
	),
	['a certificate for another name', failure({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })],
	['a certificate that has expired', failure({ code: 'CERT_HAS_EXPIRED' })],
	['a self-signed certificate', failure({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })],
	['an issuer that is not known locally', failure({ code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' })],
	['a leaf that cannot be verified', failure({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })],
];

/** The request may have reached the service. */
const MAYBE_SENT: Array<[string, unknown]> = [
	['a reset', networkError('ECONNRESET')],
	['a hang-up', failure({ code: 'ECONNRESET', message: 'socket hang up' })],
	['a broken pipe', networkError('EPIPE', 'write')],
	['a timeout of the request', failure({ code: 'ECONNABORTED' })],
	['a timeout while reading', networkError('ETIMEDOUT', 'read')],
	['a response that breaks off', failure({ code: 'ERR_BAD_RESPONSE', message: 'aborted' })],
	['a response that is not HTTP', failure({ code: 'HPE_INVALID_CONSTANT' })],
	['an unknown TLS failure', networkError('EPROTO', 'write')],
	[
		'a TLS failure while the response is read',
		failure({ code: 'EPROTO', message: 'alert handshake failure' }),
	],
	[
		'plaintext on an established connection: the request may have been received',
		failure({ code: 'ERR_SSL_WRONG_VERSION_NUMBER', message: 'wrong version number' }),
	],
	[
		'a host that becomes unreachable while the request is written',
		networkError('EHOSTUNREACH', 'write'),
	],
	['an error without a code', new Error('Something')],
	['a string', 'Something'],
	['nothing', undefined],
];

describe('a request that got no response', () => {
	it.each([
		[
			{ code: 'ECONNREFUSED', syscall: 'connect', address: '10.0.0.7', port: 8080 },
			'connection refused (10.0.0.7:8080)',
		],
		[
			{ code: 'ECONNREFUSED', syscall: 'connect', address: '::1', port: 443 },
			'connection refused ([::1]:443)',
		],
		[
			{ code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'api.example.com' },
			'its host name does not exist (api.example.com)',
		],
		[{ code: 'EHOSTUNREACH', syscall: 'connect', address: '' }, 'no route to its address'],
		[{ code: 'CERT_HAS_EXPIRED' }, 'its certificate was not accepted'],
		[
			{ code: 'ETIMEDOUT', syscall: 'connect', message: 'connect ETIMEDOUT' },
			'its address does not respond',
		],
		[{ code: 'ECONNRESET', syscall: 'connect' }, 'the connection closed while it was being made'],
		[{ name: 'SsrfBlockedIpError' }, 'n8n does not allow requests to its address'],
		[
			{ code: 'EPROTO', message: 'tlsv1 alert protocol version' },
			'it does not use https, or rejected the TLS version or the host name',
		],
	])('names the cause, and the host if it is known: %j', (fields, said) => {
		for (const times of [0, 2]) {
			const { message } = errorFromConnection(wrapped(failure(fields), times), true);
			expect(message).toBe(`The service cannot be reached: ${said}`);
		}
	});

	it.each(NEVER_SENT)('was certainly not charged: %s', (_, error) => {
		expect(errorFromConnection(error, true)).toMatchObject({
			message: expect.stringMatching(/^The service cannot be reached: [a-z\d ]+$/),
			code: 'connection_failed',
			status: null,
			charge: 'none',
			retry: 'backoff',
		});
	});

	it.each(MISCONFIGURED)('was not charged, and retrying would not help: %s', (_, error) => {
		expect(errorFromConnection(error, true)).toMatchObject({
			code: 'connection_failed',
			charge: 'none',
			retry: 'never',
		});
	});

	it.each(MAYBE_SENT)('may have been charged: %s', (_, error) => {
		expect(errorFromConnection(error, true)).toMatchObject({
			message: 'The connection closed before a response arrived',
			code: 'connection_lost',
			status: null,
			charge: 'unknown',
			retry: 'backoff',
		});
	});

	it.each([...NEVER_SENT, ...MISCONFIGURED, ...MAYBE_SENT])(
		'was not charged if it only reads: %s',
		(_, error) => {
			expect(errorFromConnection(error, false).charge).toBe('none');
		},
	);

	it.each([...NEVER_SENT, ...MISCONFIGURED])(
		'is recognized through wrapping errors: %s',
		(_, error) => {
			for (const times of [1, 2, 5]) {
				expect(errorFromConnection(wrapped(error, times), true).charge).toBe('none');
			}
		},
	);

	it('is recognized by the errors of several addresses of one name', () => {
		const each = [networkError('ECONNREFUSED', 'connect'), networkError('ENETUNREACH', 'connect')];
		const several = new AggregateError(each, '');
		expect(errorFromConnection(several, true).code).toBe('connection_failed');
		expect(errorFromConnection(wrapped(several, 2), true).code).toBe('connection_failed');
		expect(errorFromConnection(new AggregateError([], ''), true).charge).toBe('unknown');
	});

	it('never repeats the original error message, which may contain the key', () => {
		fc.assert(
			fc.property(fc.string({ minLength: 8 }), fc.boolean(), (words, charging) => {
				const secret = `«${words}»`;
				const error = Object.assign(networkError('ECONNRESET'), { message: secret });
				const { message, details, description } = errorFromConnection(error, charging);
				expect(message + details + description).not.toContain(secret);
			}),
		);
	});
});
