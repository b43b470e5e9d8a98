import { localhostHostValidation } from '@modelcontextprotocol/sdk/server/middleware/hostHeaderValidation.js';
import type { RequestHandler } from 'express';

const refusal =
	'The sandbox takes this request from its own pages and from programs on this machine only. It came from ' +
	'a page of another origin. Nothing was changed.\n';

/**
 * Rejects a request with 403 if its host name is not a name of this machine. A web page can make its own host name
 * resolve to 127.0.0.1 and then counts as same-origin (DNS rebinding). The MCP specification requires this check.
 */
export const refuseForeignHost: RequestHandler = localhostHostValidation();

/** Rejects a request from a page of another origin with 403. Programs send no `Origin`, so they are accepted. */
export const refuseForeignOrigin: RequestHandler = ({ headers }, response, next) => {
	const { host, origin } = headers;
	if (origin === undefined || origin === `http://${host}`) next();
	else response.status(403).type('text/plain').send(refusal);
};
