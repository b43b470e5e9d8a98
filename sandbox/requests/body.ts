import { ServiceError } from '../basics/errors';
import { isObject } from '../basics/fields';

/** Parses a body that is text. Throws `invalid_request` if it is not JSON. */
export function parseBody(body: unknown): unknown {
	if (typeof body !== 'string') return body;
	try {
		return JSON.parse(body) as unknown;
	} catch {
		throw new ServiceError('invalid_request', 'The body is not valid JSON.');
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
