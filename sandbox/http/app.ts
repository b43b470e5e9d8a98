import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { errorAnswer } from '../basics/errors';

/** Bodies above this are refused with 413: room for several inline inputs of 4.5 MB. */
const bodyLimit = 64 * 1024 * 1024;

function statusOf(error: unknown): number {
	const status = error instanceof Error && 'statusCode' in error ? error.statusCode : 500;
	return typeof status === 'number' ? status : 500;
}

/** A Fastify app that hands bodies on as bytes and answers its own errors as spec 2.5 says. */
export function createApp(): FastifyInstance {
	const app = Fastify({ forceCloseConnections: true, bodyLimit, exposeHeadRoutes: false });
	app.removeAllContentTypeParsers();
	app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
	app.setErrorHandler(async (error, _request, reply) => {
		const status = statusOf(error);
		const name = status === 413 ? 'payload_too_large' : status < 500 ? 'invalid_request' : null;
		const found = errorAnswer(name ?? 'server_error');
		await reply.code(found.status).send(found.body);
	});
	return app;
}
