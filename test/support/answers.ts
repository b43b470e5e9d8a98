import type { ServiceResponse } from '../../client/ports';

/** What may be said of a generation as the service writes it (spec 2.1). */
export interface WireFields {
	id?: string;
	status?: string;
	model?: string;
	type?: 'image' | 'video';
	/** Unix seconds. */
	created?: number;
	url?: string;
	revised_prompt?: string;
	error?: unknown;
}

/** A generation as the service writes it, in creating and status answers alike. */
export function wireGeneration(fields: WireFields = {}): Record<string, unknown> {
	const { id = 'generation-1', status = 'pending', model = 'aurora-image-1' } = fields;
	const { type = 'image', created = Date.UTC(2026, 0, 1) / 1000, error } = fields;
	const url = fields.url ?? `https://storage.example.com/outputs/${id}.png`;
	const { revised_prompt = null } = fields;
	const entry = { url, generation_id: id, status, model, revised_prompt };
	return { id, status, created, model, type, data: [entry], ...(error !== undefined && { error }) };
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

/** What an output item says of a generation of which nothing is known. */
export const NOTHING_KNOWN = { id: null, status: null, ...unknownFields };

/** What an output item says of a generation of which only the id is known. */
export const ONLY_ID_KNOWN = { status: 'pending', ...unknownFields };

/** A success with a body. */
export function answer(body: unknown): ServiceResponse {
	return { status: 200, body };
}

/** The types that spec 7 has, where tests go by them: of a 5xx only the service's own says that nothing was made. */
const TYPES: Record<number, string> = {
	500: 'server_error',
	502: 'server_error',
	503: 'server_error',
};

/** A refusal with the service's own body (spec 2.5). */
export function refusal(
	status: number,
	code: string,
	message = 'The service is sorry',
	param: string | null = null,
): ServiceResponse {
	return { status, body: { error: { code, message, type: TYPES[status] ?? 'some_error', param } } };
}

/** The refusal of a creating request while all slots are taken (spec 8.1). */
export function noSlot(running: number, allowed = running): ServiceResponse {
	return refusal(
		429,
		'CONCURRENCY_LIMIT_REACHED',
		`${running} generations are running, and the plan allows ${allowed}`,
	);
}

/** An error as Node's network layer throws it. */
export function networkError(code: string, syscall?: string): Error {
	return Object.assign(new Error(`${syscall ?? 'request'} ${code}`), { code, syscall });
}
