import type { Request } from 'express';
import type { ServiceRequest } from '../requests/request';

function textOf(value: string | string[] | undefined): string | undefined {
	return Array.isArray(value) ? value.join(', ') : value;
}

function bodyOf({ body }: Request): string {
	return body instanceof Buffer ? body.toString('utf8') : '';
}

/** Returns the fields of a submitted form. */
export function formFields(request: Request): URLSearchParams {
	return new URLSearchParams(bodyOf(request));
}

/** Returns the parsed JSON body, or an empty object for an empty body. Throws SyntaxError. */
export function jsonBody(request: Request): unknown {
	return JSON.parse(bodyOf(request) || '{}') as unknown;
}

/** Converts a request to the service's format: path and query separated, the body as text. */
export function serviceRequest(request: Request): ServiceRequest {
	const url = new URL(request.originalUrl, 'http://sandbox.invalid');
	const headers = Object.fromEntries(
		Object.entries(request.headers).map(([name, value]) => [name, textOf(value)]),
	);
	const query = Object.fromEntries(url.searchParams);
	return { method: request.method, path: url.pathname, query, headers, body: bodyOf(request) };
}
