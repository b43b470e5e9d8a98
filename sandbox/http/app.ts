import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { ErrorRequestHandler, Express, RequestHandler } from 'express';
import { errorAnswer } from '../basics/errors';

/** Bodies above this are refused with 413: room for several inline inputs of 4.5 MB. */
const bodyLimit = 64 * 1024 * 1024;

/** A connection that is not used stays open for longer than any client waits before it uses it again. */
const keepAliveMs = 72_000;

const readBody = express.raw({ type: () => true, limit: bodyLimit, inflate: false });

/** Reads bodies of every type as bytes. A body with a too large `content-length` is rejected unread. */
export const bodyAsBytes: RequestHandler = (request, response, next) => {
	if (Number(request.headers['content-length'] ?? 0) <= bodyLimit) {
		return readBody(request, response, next);
	}
	response.set('connection', 'close');
	next({ status: 413 });
};

/** Answers any error with a body of spec 2.5. If a response has begun, the connection is closed instead. */
const answerError: ErrorRequestHandler = (error: { status?: number }, _request, response, next) => {
	if (response.headersSent) {
		response.destroy();
		// Nothing is left to be said: with the error, Express would print it.
		return next();
	}
	const { status = 500 } = error;
	const name = status === 413 ? 'payload_too_large' : status < 500 ? 'invalid_request' : null;
	const found = errorAnswer(name ?? 'server_error');
	response.status(found.status).json(found.body);
};

/** A server with these routes, which answer in the order in which they are added. */
export function serverWith(addRoutes: (app: Express) => void): Server {
	const app = express();
	app.disable('x-powered-by').disable('etag');
	app.enable('strict routing').enable('case sensitive routing');
	addRoutes(app);
	app.use(answerError);
	return createServer({ keepAliveTimeout: keepAliveMs }, app);
}

/** @returns the origin. Rejects with `EADDRINUSE` where the port is taken. */
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

/** Ends every connection, and listens no more. */
export async function close(server: Server): Promise<void> {
	const closed = new Promise<void>((resolve) => server.close(() => resolve()));
	server.closeAllConnections();
	await closed;
}
