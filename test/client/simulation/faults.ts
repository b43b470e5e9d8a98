import { GenerationError } from '../../../client/api/errors';

/** All faults that may occur between a request and its response. */

interface NodeFields {
	code: string;
	syscall?: string;
}

function nodeError(message: string, fields: NodeFields): Error {
	return Object.assign(new Error(message), fields);
}

/** Wraps an error of the HTTP client like n8n's HTTP helper. */
function wrapped(cause: Error): Error {
	return new Error('The connection cannot be established', { cause });
}

/** Connections that break when the request may have reached the service. */
const midway = {
	reset: () => nodeError('read ECONNRESET', { code: 'ECONNRESET', syscall: 'read' }),
	hangUp: () => wrapped(nodeError('socket hang up', { code: 'ECONNRESET' })),
	brokenPipe: () => wrapped(nodeError('write EPIPE', { code: 'EPIPE', syscall: 'write' })),
	aborted: () => nodeError('aborted', { code: 'ERR_BAD_RESPONSE' }),
	// Linux reports a route that is lost while a connection is open.
	hostLost: () => nodeError('read EHOSTUNREACH', { code: 'EHOSTUNREACH', syscall: 'read' }),
	unnamed: () => new Error('something broke'),
};

/** Connections that are never made. */
const before = {
	portClosed: () =>
		wrapped(nodeError('connect ECONNREFUSED', { code: 'ECONNREFUSED', syscall: 'connect' })),
	noName: () => nodeError('getaddrinfo EAI_AGAIN', { code: 'EAI_AGAIN', syscall: 'getaddrinfo' }),
	noAnswer: () => nodeError('connect ETIMEDOUT', { code: 'ETIMEDOUT', syscall: 'connect' }),
	badCertificate: () => wrapped(nodeError('certificate has expired', { code: 'CERT_HAS_EXPIRED' })),
	// Node tries several addresses of one host name.
	severalAddresses: () =>
		new AggregateError(
			[nodeError('connect ECONNREFUSED', { code: 'ECONNREFUSED', syscall: 'connect' })],
			'all attempts failed',
		),
};

export const breakages = { ...midway, ...before };

export type Breakage = keyof typeof breakages;

export const midwayBreakages = Object.keys(midway) as Array<keyof typeof midway>;
export const earlyBreakages = Object.keys(before) as Array<keyof typeof before>;

/** The request took longer than the HTTP client waits. */
export function timedOut(): Error {
	return wrapped(nodeError('timeout of 60000ms exceeded', { code: 'ECONNABORTED' }));
}

/** Our side aborted the request. */
export function aborted(): Error {
	return nodeError('canceled', { code: 'ERR_CANCELED' });
}

interface Foreign {
	status: number;
	body: unknown;
}

function likeOwn(code: string | number, type: string) {
	return { error: { code, type, message: 'Upstream request timeout', param: null } };
}

/** Responses that do not come from the service, but from a gateway that may have forwarded the request. */
const gateways = {
	html502: { status: 502, body: '<html><h1>502 Bad Gateway</h1></html>' },
	html504: { status: 504, body: '<html><h1>504 Gateway Time-out</h1></html>' },
	empty503: { status: 503, body: '' },
	text502: { status: 502, body: { error: 'Bad gateway' } },
	google503: { status: 503, body: { error: { code: 503, message: 'Try again in 30 seconds.' } } },
	// Proxies that format errors like the service: only the service's own codes, with their statuses, are trusted.
	likeOwn504: { status: 504, body: likeOwn('504', 'timeout_error') },
	likeOwn408: { status: 408, body: likeOwn('request_timeout', 'timeout_error') },
	numbered500: { status: 500, body: likeOwn(500, 'server_error') },
	misplaced504: { status: 504, body: likeOwn('service_unavailable', 'server_error') },
	html200: { status: 200, body: '<html>Please sign in</html>' },
	empty200: { status: 200, body: '' },
	json200: { status: 200, body: {} },
	cut200: { status: 200, body: '{"id":"6f9619ff-8b86-4d01-b42d-00cf4fc9' },
} satisfies Record<string, Foreign>;

/** Responses from a gateway in front of the service: the request was not forwarded. */
const gatekeepers = {
	html403: { status: 403, body: '<h1>Blocked</h1>' },
	html404: { status: 404, body: '<h1>Not Found</h1>' },
	html413: { status: 413, body: '<h1>Request Entity Too Large</h1>' },
	html429: { status: 429, body: '<h1>Slow down</h1>' },
	redirect: { status: 302, body: '' },
} satisfies Record<string, Foreign>;

export const foreignAnswers: Readonly<Record<ForeignAnswer, Foreign>> = {
	...gateways,
	...gatekeepers,
};

export type ForeignAnswer = keyof typeof gateways | keyof typeof gatekeepers;

export const gatewayAnswers = Object.keys(gateways) as Array<keyof typeof gateways>;
export const gatekeeperAnswers = Object.keys(gatekeepers) as Array<keyof typeof gatekeepers>;

/** Returns whether the error tells the client that the request was never sent. */
export function isEarly(how: Breakage): boolean {
	return Object.hasOwn(before, how);
}

/** Returns whether the response leaves open if the request was forwarded. */
export function mayHavePassed(name: ForeignAnswer): boolean {
	return Object.hasOwn(gateways, name);
}

export function brokenDownload(): GenerationError {
	return new GenerationError({
		title: 'The output could not be downloaded',
		description: '',
		code: 'download_failed',
	});
}
