import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '../basics/loopback';
import { page, sendPage } from './pages';

const cookieName = 'sandbox_form';
const fieldName = 'form_token';

function cookieOf({ headers }: FastifyRequest): string | undefined {
	return new RegExp(`(?:^|;\\s*)${cookieName}=([\\w-]{43})(?:;|$)`).exec(headers.cookie ?? '')?.[1];
}

/**
 * A hidden field for the forms of a page. It holds what a cookie holds too, and a page of somebody
 * else can neither read the one nor set the other.
 */
export function formToken(request: FastifyRequest, reply: FastifyReply): string {
	const token = cookieOf(request) ?? randomBytes(32).toString('base64url');
	void reply.header('set-cookie', `${cookieName}=${token}; Path=/; HttpOnly; SameSite=Strict`);
	return `<input type="hidden" name="${fieldName}" value="${token}">`;
}

/**
 * Whether the browser says that the page is ours. Cookies do not tell ports apart, and a foreign name
 * may have been made to lead to this machine: hence the name as well.
 */
function isOwnOrigin({ headers: { origin, host } }: FastifyRequest): boolean {
	if (origin === undefined) return true;
	if (!URL.canParse(origin)) return false;
	const from = new URL(origin);
	return from.host === host && isLoopback(from.hostname);
}

function isOwnForm(request: FastifyRequest, fields: URLSearchParams): boolean {
	const cookie = cookieOf(request);
	return isOwnOrigin(request) && cookie !== undefined && fields.get(fieldName) === cookie;
}

const foreign = page(
	'Not from here',
	'<p>This form was not sent from a page of the sandbox. Nothing was changed.</p>',
);

/** Takes the forms of our pages that are sent to a path; those of anybody else get 403. */
export function addForm(
	app: FastifyInstance,
	path: string,
	work: (fields: URLSearchParams, reply: FastifyReply) => Promise<void>,
): void {
	app.post(path, async (request, reply) => {
		const text = request.body instanceof Buffer ? request.body.toString('utf8') : '';
		const fields = new URLSearchParams(text);
		if (!isOwnForm(request, fields)) return await sendPage(reply, foreign, 403);
		await work(fields, reply);
	});
}
