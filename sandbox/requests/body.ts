import { ServiceError } from '../basics/errors';
import { isObject } from '../basics/fields';

/** A body as sent: a text is parsed, and `invalid_request` thrown where it is not JSON. */
export function parseBody(body: unknown): unknown {
	if (typeof body !== 'string') return body;
	try {
		return JSON.parse(body) as unknown;
	} catch {
		throw new ServiceError('invalid_request', 'The body is not valid JSON.');
	}
}

/** The prompt in a body, for the faults that look for one; undefined where there is none. */
export function promptIn(body: unknown): string | undefined {
	try {
		const parsed = parseBody(body);
		return isObject(parsed) && typeof parsed.prompt === 'string' ? parsed.prompt : undefined;
	} catch {
		return undefined;
	}
}
