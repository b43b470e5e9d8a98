import type { FastifyRequest } from 'fastify';
import type { ServiceRequest } from '../requests/request';

function textOf(value: string | string[] | undefined): string | undefined {
	return Array.isArray(value) ? value.join(', ') : value;
}

/** The fields of a form that was sent. */
export function formFields({ body }: FastifyRequest): URLSearchParams {
	return new URLSearchParams(body instanceof Buffer ? body.toString('utf8') : '');
}

/** A request as the service takes it: path and query apart, the body as text. */
export function serviceRequest(request: FastifyRequest): ServiceRequest {
	const url = new URL(request.raw.url ?? '/', 'http://sandbox.invalid');
	const headers = Object.fromEntries(
		Object.entries(request.headers).map(([name, value]) => [name, textOf(value)]),
	);
	const body = request.body instanceof Buffer ? request.body.toString('utf8') : undefined;
	const query = Object.fromEntries(url.searchParams);
	return { method: request.method, path: url.pathname, query, headers, body: body ?? '' };
}
