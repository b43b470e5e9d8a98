import type { Request } from 'express';
import type { ServiceRequest } from '../requests/request';

function textOf(value: string | string[] | undefined): string | undefined {
	return Array.isArray(value) ? value.join(', ') : value;
}

function bodyOf({ body }: Request): string {
	return body instanceof Buffer ? body.toString('utf8') : '';
}

/** The fields of a form that was sent. */
export function formFields(request: Request): URLSearchParams {
	return new URLSearchParams(bodyOf(request));
}

/** The JSON that was sent; an empty object for nothing. Throws SyntaxError. */
export function jsonBody(request: Request): unknown {
	return JSON.parse(bodyOf(request) || '{}') as unknown;
}

/** A request as the service takes it: path and query apart, the body as text. */
export function serviceRequest(request: Request): ServiceRequest {
	const url = new URL(request.originalUrl, 'http://sandbox.invalid');
	const headers = Object.fromEntries(
		Object.entries(request.headers).map(([name, value]) => [name, textOf(value)]),
	);
	const query = Object.fromEntries(url.searchParams);
	return { method: request.method, path: url.pathname, query, headers, body: bodyOf(request) };
}
