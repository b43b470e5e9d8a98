import { localhostHostValidation } from '@modelcontextprotocol/sdk/server/middleware/hostHeaderValidation.js';
import type { RequestHandler } from 'express';

const refusal =
	'The sandbox takes this request from its own pages and from programs on this machine only. It came from ' +
	'a page of another origin. Nothing was changed.\n';

/**
 * Refuses a request under a host name that is not this machine's, with 403. A web page can make its own host name
 * resolve to 127.0.0.1 and then counts as same-origin (DNS rebinding; the MCP specification asks for this check).
 */
export const refuseForeignHost: RequestHandler = localhostHostValidation();

/** Refuses a request from a page of another origin, with 403. Programs send no `Origin` and pass. */
export const refuseForeignOrigin: RequestHandler = ({ headers }, response, next) => {
	const { host, origin } = headers;
	if (origin === undefined || origin === `http://${host}`) next();
	else response.status(403).type('text/plain').send(refusal);
};
