import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isLoopback } from '../basics/loopback';

const refusal =
	'The sandbox is steered from its own pages and by programs on this machine. This came from a page of ' +
	'somebody else, or under a name that is not of this machine. Nothing was changed.\n';

/**
 * A foreign name may have been made to lead to this machine, and any page can send a form here: browsers name the page
 * then. Programs name none.
 */
function isFromHere({ host = '', origin }: IncomingHttpHeaders): boolean {
	const own = `http://${host}`;
	if (!URL.canParse(own) || !isLoopback(new URL(own).hostname)) return false;
	return origin === undefined || origin === own;
}

/** Refuses, to all routes of this part of an app, what pages of somebody else have sent. */
export function refuseForeign(app: FastifyInstance): void {
	app.addHook('onRequest', async ({ headers }, reply) => {
		if (!isFromHere(headers)) await reply.code(403).send(refusal);
	});
}
