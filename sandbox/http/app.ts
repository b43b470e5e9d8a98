import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { ErrorRequestHandler, Express, RequestHandler } from 'express';
import { errorAnswer } from '../basics/errors';

/** Idle connections stay open longer than any client waits before it reuses one. */
const keepAliveTimeout = 72_000;

/** Larger bodies are rejected with 413. The limit allows several inline inputs of 4.5 MB. */
const bodyLimit = 64 * 1024 * 1024;

const readBody = express.raw({ type: () => true, limit: bodyLimit, inflate: false });

/** Reads bodies of every type as bytes. If `content-length` is too large, rejects the body without reading it. */
export const bodyAsBytes: RequestHandler = (request, response, next) => {
	if (Number(request.headers['content-length'] ?? 0) <= bodyLimit) {
		return readBody(request, response, next);
	}
	response.set('connection', 'close');
	next({ status: 413 });
};

/** Responds to any error with a body of spec 2.5. If a response has begun, closes the connection instead. */
const answerError: ErrorRequestHandler = (error: { status?: number }, _request, response, next) => {
	if (response.headersSent) {
		response.destroy();
		// The response is over. If the error were passed on, Express would print it.
		return next();
	}
	const { status = error instanceof SyntaxError ? 400 : 500 } = error;
	const name = status === 413 ? 'payload_too_large' : status < 500 ? 'invalid_request' : null;
	const found = errorAnswer(name ?? 'server_error');
	response.status(found.status).json(found.body);
};

/** Creates a server with these routes. They are matched in the order in which they are added. */
export function serverWith(addRoutes: (app: Express) => void): Server {
	const app = express();
	app.disable('x-powered-by').disable('etag');
	app.enable('strict routing').enable('case sensitive routing');
	addRoutes(app);
	app.use(answerError);
	return createServer({ keepAliveTimeout }, app);
}

/** Starts listening and returns the origin. Rejects with `EADDRINUSE` if the port is taken. */
export async function listen(server: Server, host: string, port: number): Promise<string> {
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen({ host, port }, () => {
			server.off('error', reject);
			resolve();
		});
	});
	return `http://${host}:${(server.address() as AddressInfo).port}`;
}

/** Closes every connection and stops listening. */
export async function close(server: Server): Promise<void> {
	const closed = new Promise<void>((resolve) => server.close(() => resolve()));
	server.closeAllConnections();
	await closed;
}
