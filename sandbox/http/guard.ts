import type { IncomingHttpHeaders } from 'node:http';
import type { RequestHandler } from 'express';
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

/** Refuses what pages of somebody else have sent. */
export const refuseForeign: RequestHandler = ({ headers }, response, next) => {
	if (isFromHere(headers)) next();
	else response.status(403).type('text/plain').send(refusal);
};
