import type { Request } from 'express';
import { decodeText, parseJson } from '../basics/json';
import type { ServiceRequest } from '../requests/request';

function textOf(value: string | string[] | undefined): string | undefined {
	return Array.isArray(value) ? value.join(', ') : value;
}

/** Returns the bytes of a body, which `bodyAsBytes` has read. */
function bodyBytes({ body }: Request): Buffer {
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

/** Returns the URL of a request. Only its path and its query mean something. */
function urlOf({ originalUrl }: Request): URL {
	// Not as a relative URL: a path that begins with two slashes would become a host.
	return new URL(`http://sandbox.invalid${originalUrl.startsWith('/') ? '' : '/'}${originalUrl}`);
}

/** Returns the query of a request, in which a name can occur more than once. */
export function queryOf(request: Request): URLSearchParams {
	return urlOf(request).searchParams;
}

/** Converts a request to the service's format: path and query separated, the body as bytes. */
export function serviceRequest(request: Request): ServiceRequest {
	const { pathname: path, searchParams } = urlOf(request);
	const headers = Object.fromEntries(
		Object.entries(request.headers).map(([name, value]) => [name, textOf(value)]),
	);
	const query = Object.fromEntries(searchParams);
	return { method: request.method, path, query, headers, body: bodyBytes(request) };
}
