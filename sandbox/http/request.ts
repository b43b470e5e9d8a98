import type { Request } from 'express';
import { decodeText, parseJson } from '../basics/json';
import type { ServiceRequest } from '../requests/request';

function textOf(value: string | string[] | undefined): string | undefined {
	return Array.isArray(value) ? value.join(', ') : value;
}

/** Returns the bytes of a body, which `bodyAsBytes` has read. */
export function bodyBytes({ body }: Request): Buffer {
	return body instanceof Buffer ? body : Buffer.alloc(0);
}

/** Returns the fields of a submitted form. Throws SyntaxError if it is not UTF-8. */
export function formFields(request: Request): URLSearchParams {
	return new URLSearchParams(decodeText(bodyBytes(request)));
}

/** Returns the parsed JSON body, or an empty object for an empty body. Throws SyntaxError. */
export function jsonBody(request: Request): unknown {
	const bytes = bodyBytes(request);
	return bytes.length === 0 ? {} : parseJson(bytes);
}

/** Converts a request to the service's format: path and query separated, the body as bytes. */
export function serviceRequest(request: Request): ServiceRequest {
	const { originalUrl } = request;
	// Not as a relative URL: a path that begins with two slashes would become a host.
	const url = new URL(
		`http://sandbox.invalid${originalUrl.startsWith('/') ? '' : '/'}${originalUrl}`,
	);
	const headers = Object.fromEntries(
		Object.entries(request.headers).map(([name, value]) => [name, textOf(value)]),
	);
	const query = Object.fromEntries(url.searchParams);
	return { method: request.method, path: url.pathname, query, headers, body: bodyBytes(request) };
}
