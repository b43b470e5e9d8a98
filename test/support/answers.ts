import type { ServiceResponse } from '../../client/ports';

/** The fields of a generation in a response from the service (spec 2.1). */
export interface WireFields {
	id?: string;
	status?: string;
	model?: string;
	type?: 'image' | 'video';
	/** Unix seconds. */
	created?: number;
	/** `null`: none. By default, a URL of the id. */
	url?: string | null;
	revised_prompt?: string;
	/** The file itself. */
	b64_json?: string;
	error?: unknown;
	/** Number of entries in `data`. Default: 1. */
	outputs?: number;
}

/** Returns a generation in the service's format, which is the same for creating requests and status checks. */
export function wireGeneration(fields: WireFields = {}): Record<string, unknown> {
	const { id = 'generation-1', status = 'pending', model = 'aurora-image-1' } = fields;
	const { type = 'image', created = Date.UTC(2026, 0, 1) / 1000, error } = fields;
	const { url = `https://storage.example.com/outputs/${id}.png` } = fields;
	const { revised_prompt = null, outputs = 1, b64_json } = fields;
	const file = b64_json !== undefined && { b64_json };
	const entry = { url, generation_id: id, status, model, revised_prompt, ...file };
	const data = Array.from({ length: outputs }, () => entry);
	return { id, status, created, model, type, data, ...(error !== undefined && { error }) };
}

const unknownFields = {
	type: null,
	model: null,
	created: null,
	url: null,
	url_expires_at: null,
	revised_prompt: null,
	timed_out: false,
};

/** The output item of a generation about which nothing is known. */
export const NOTHING_KNOWN = { id: null, status: null, ...unknownFields };

/** The output item of a generation whose id alone is known. */
export const ONLY_ID_KNOWN = { status: 'pending', ...unknownFields };

/** Returns a 200 response with this body. */
export function answer(body: unknown): ServiceResponse {
	return { status: 200, body };
}

/**
 * The error types of spec 7 that tests depend on. Only a 5xx with the service's own error type guarantees that nothing
 * was created.
 */
const TYPES: Record<number, string> = {
	500: 'server_error',
	502: 'server_error',
	503: 'server_error',
};

/** Returns an error response in the service's own format (spec 2.5). */
export function refusal(
	status: number,
	code: string,
	message = 'The service is sorry',
	param: string | null = null,
): ServiceResponse {
	return { status, body: { error: { code, message, type: TYPES[status] ?? 'some_error', param } } };
}

/** Returns the response to a creating request while all slots are taken (spec 8.1). */
export function noSlot(running: number, allowed = running): ServiceResponse {
	return refusal(
		429,
		'CONCURRENCY_LIMIT_REACHED',
		`${running} generations are running, and the plan allows ${allowed}`,
	);
}

/** Adds the header `Retry-After` to a response. */
export function retryAfter(value: string | number, response: ServiceResponse): ServiceResponse {
	return { ...response, headers: { 'retry-after': String(value) } };
}

/** Returns an error like those that Node's network layer throws. */
export function networkError(code: string, syscall?: string): Error {
	return Object.assign(new Error(`${syscall ?? 'request'} ${code}`), { code, syscall });
}
