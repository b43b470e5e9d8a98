import { ServiceError } from '../basics/errors';
import { isObject } from '../basics/fields';
import { parseJson } from '../basics/json';

/** Parses a body that is text or bytes. Throws `invalid_request` if it is not JSON. */
export function parseBody(body: unknown): unknown {
	if (typeof body !== 'string' && !(body instanceof Uint8Array)) return body;
	try {
		return parseJson(body);
	} catch (error) {
		throw new ServiceError('invalid_request', (error as SyntaxError).message);
	}
}

/** Returns the prompt in a body, for faults that match by prompt, or undefined if there is none. */
export function promptIn(body: unknown): string | undefined {
	try {
		const parsed = parseBody(body);
		return isObject(parsed) && typeof parsed.prompt === 'string' ? parsed.prompt : undefined;
	} catch {
		return undefined;
	}
}
