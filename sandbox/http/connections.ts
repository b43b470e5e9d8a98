import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorAnswer } from '../basics/errors';

/** Idle connections stay open longer than any client waits before it reuses one. */
const keepAliveMs = 72_000;

/** Returns the body of an error that belongs to no endpoint (spec 2.5). */
function refusalBody(message: string): string {
	return JSON.stringify(errorAnswer('invalid_request', message).body);
}

/** The messages and statuses for what Node.js cannot parse. Everything else is malformed. */
const unparsed: Readonly<Record<string, readonly [string, string]>> = {
	HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
	HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Payload Too Large', 'The chunk extensions are too large.'],
	ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request was not complete in time.'],
};

const malformed = ['400 Bad Request', 'This is not a valid HTTP request.'] as const;

/** Writes a response to a connection that has no request, and closes it. */
function refuseConnection(socket: Duplex, [status, message]: readonly [string, string]): void {
	// Node.js removes its own listener before `connect`. A client that resets the connection would end the process.
	socket.on('error', () => socket.destroy());
	if (!socket.writable) return void socket.destroy();
	const body = refusalBody(message);
	const head = [
		`HTTP/1.1 ${status}`,
		'content-type: application/json; charset=utf-8',
		`content-length: ${Buffer.byteLength(body)}`,
		'connection: close',
	];
	socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** Rejects a request whose headers are not valid HTTP, and closes its connection. */
function refuseRequest(response: ServerResponse, message: string): void {
	const body = refusalBody(message);
	response
		.writeHead(400, {
			'content-type': 'application/json; charset=utf-8',
			'content-length': Buffer.byteLength(body),
			connection: 'close',
		})
		.end(body);
}

/**
 * Applies the rules for the host and the target of a request (RFC 9112, 3.2). A target in absolute form becomes a path,
 * and its host replaces the header. Returns what is wrong, or null.
 */
function settleTarget(request: IncomingMessage): string | null {
	const { httpVersion, headersDistinct, url = '' } = request;
	const hosts = headersDistinct.host?.length ?? 0;
	if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
		return 'The header Host is needed exactly once.';
	}
	if (url.startsWith('/') || url === '*') return null;
	const target = URL.canParse(url) ? new URL(url) : null;
	if (target?.protocol !== 'http:') return 'The target must be a path, or an http URL.';
	request.url = target.pathname + target.search;
	request.headers.host = target.host;
	return null;
}

interface Exchange {
	readonly request: IncomingMessage;
	/** Resolves when the response is complete, or the connection is closed. */
	readonly ended: Promise<void>;
}

/**
 * Creates a server that executes the requests of a connection one after another. A client may send the next request
 * before it has the response (RFC 9112, 9.3.2). That one must not be executed, and charged, if an earlier response
 * closes the connection. Every rejection has a body, including those of the parser.
 */
export function createOrderlyServer(listener: RequestListener): Server {
	const latest = new WeakMap<Duplex, Exchange>();
	const execute = (request: IncomingMessage, response: ServerResponse): void => {
		const wrong = settleTarget(request);
		if (wrong === null) listener(request, response as never);
		else refuseRequest(response, wrong);
	};
	const handle = (request: IncomingMessage, response: ServerResponse): void => {
		const { socket } = request;
		const before = latest.get(socket);
		const ended = new Promise<void>((resolve) => response.once('close', resolve));
		const exchange = { request, ended };
		latest.set(socket, exchange);
		response.once('close', () => {
			if (latest.get(socket) === exchange) latest.delete(socket);
		});
		if (!before) return execute(request, response);
		void before.ended.then(() => {
			// A connection that is being closed sends nothing more.
			if (socket.writable) execute(request, response);
		});
	};
	// Without a Host header, Node.js itself would respond, with no body.
	const server = createServer({ keepAliveTimeout: keepAliveMs, requireHostHeader: false }, handle);
	// Expectations that are unknown can be ignored (RFC 9110, 10.1.1).
	server.on('checkExpectation', handle);
	server.on('connect', (_request, socket) => refuseConnection(socket, malformed));
	server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
		const refuse = (): void => refuseConnection(socket, unparsed[error.code ?? ''] ?? malformed);
		const current = latest.get(socket);
		// The error is in the request after the current one, whose response comes first.
		if (error.code !== 'ECONNRESET' && current?.request.complete) void current.ended.then(refuse);
		else refuse();
	});
	return server;
}
