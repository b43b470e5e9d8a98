import { truncate } from '../text';
import { isContentRefusal, isFinalState, readState } from './states';

export const GENERATION_TYPES = ['image', 'video'] as const;
export type GenerationType = (typeof GENERATION_TYPES)[number];

/** A generation as the nodes return it (spec 2.1). Every item has all keys; unknown values are `null`. */
export interface GenerationItem {
	/** `pending`, `processing`, `completed` or `failed`; any other status as the service spells it. */
	status: string | null;
	model: string | null;
	type: string | null;
	id: string;
	/** Unix seconds. */
	created: number | null;
	/** ISO 8601 UTC. */
	url_expires_at: string | null;
	revised_prompt: string | null;
	/** True only if the wait ended before the generation did. */
	timed_out: boolean;
	/** Presigned output URL. */
	url: string | null;
}

export interface Generation {
	item: GenerationItem;
	/** The service's reason why there is no output; `null` if it gave no reason. */
	failureReason: string | null;
	/** True if the content was refused: the same model would refuse it again. */
	isContentRefusal: boolean;
	/** True if the output came in the response itself, and has no URL. `takeInlineFile` returns it. */
	isInline: boolean;
	/** Number of further outputs in the response. Only the first output is returned. */
	leftOut: number;
}

/** An item with no known values. The order of these keys is the order in n8n's output panel. */
export const NOTHING_KNOWN = {
	status: null,
	model: null,
	type: null,
	id: null,
	created: null,
	url_expires_at: null,
	revised_prompt: null,
	timed_out: false,
	url: null,
} satisfies Record<keyof GenerationItem, null | false>;

/** Builds a generation from its id and any known fields, without a response of the service. */
export function unseen(id: string, known: Partial<GenerationItem>): Generation {
	const item = { ...NOTHING_KNOWN, ...known, id };
	return { item, failureReason: null, isContentRefusal: false, isInline: false, leftOut: 0 };
}

/** True if polling stops (spec 3). */
export function isFinal(generation: Generation): boolean {
	return isFinalState(generation.item.status);
}

/** True if a completed generation has no output in this response. If a replica lags, a later check may have the output. */
export function lacksOutput(generation: Generation): boolean {
	return isCompleted(generation) && generation.item.url === null && !generation.isInline;
}

/** True if the status is `completed`. The response may still lack the output: see `lacksOutput`. */
export function isCompleted(generation: Generation): boolean {
	return generation.item.status === 'completed';
}

/** True if the generation failed. The service has refunded it (spec 1.4). */
export function isFailed(generation: Generation): boolean {
	return generation.item.status === 'failed';
}

/** Returns a parsed JSON value for reading its fields; an empty object for anything but an object or a list. */
export function asRecord(value: unknown): Record<string, unknown> {
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Reads the response to a creating request or status check; `null` if it has no id. The file of `url` may not exist yet. */
export function readGeneration(body: unknown, now: number): Generation | null {
	const wire = asRecord(body);
	const entries = (Array.isArray(wire.data) ? wire.data : []).map(asRecord);
	const outputs = entries.filter((entry) => text(entry.url) ?? inlineFile(entry));
	const entry = outputs[0] ?? entries[0] ?? {};
	const id = idIn(wire.id) ?? idIn(entry.generation_id);
	if (id === null) return null;
	const created = typeof wire.created === 'number' ? wire.created : null;
	const status = readState(text(wire.status) ?? text(entry.status) ?? 'pending');
	const hasOutput = status === 'completed' || !isFinalState(status);
	const url = hasOutput && !isDataUri(entry.url) ? text(entry.url) : null;
	const file = status === 'completed' && url === null ? inlineFile(entry) : null;
	const generation: Generation = {
		item: {
			...NOTHING_KNOWN,
			status,
			model: text(wire.model) ?? text(entry.model),
			type: text(wire.type),
			id,
			created,
			url_expires_at: url === null ? null : presignedUrlExpiry(url, created, now),
			revised_prompt: text(entry.revised_prompt),
			url,
		},
		failureReason: reasonIn(wire.error ?? entry.error),
		isContentRefusal: [wire.error, entry.error].some((error) => isContentRefusal(error)),
		isInline: file !== null,
		leftOut: Math.max(0, outputs.length - 1),
	};
	if (file !== null) inlineFiles.set(generation, file);
	return generation;
}

/** Outputs that came in a response, in base64. They can be large, so `takeInlineFile` removes each from memory. */
const inlineFiles = new WeakMap<Generation, string>();

/** Returns the output that came in the response, once. Later calls return `null`: then fetch the status again. */
export function takeInlineFile(generation: Generation): Buffer | null {
	const file = inlineFiles.get(generation);
	inlineFiles.delete(generation);
	return file === undefined ? null : Buffer.from(file, 'base64');
}

function isDataUri(url: unknown): boolean {
	return /^data:/i.test(text(url) ?? '');
}

/** The output within an entry of `data`, in base64; `null` if there is none. */
function inlineFile({ b64_json, url }: Record<string, unknown>): string | null {
	const file = text(b64_json) ?? (isDataUri(url) ? text(url) : null);
	return text(file?.replace(/^data:[^,]*,/i, ''));
}

/** Returns the reason in an error of any form: spec 2.1 does not show the shape of a failed generation's error. */
export function reasonIn(error: unknown): string | null {
	if (error === undefined || error === null) return null;
	if (typeof error === 'string') return truncate(error);
	const { message, msg, reason, code } = asRecord(error);
	const said = text(message) ?? text(msg) ?? text(reason) ?? text(code);
	return truncate(said ?? JSON.stringify(error));
}

/** Accepts a number as an id, too: if the id were ignored, a charged generation could not be fetched. */
function idIn(value: unknown): string | null {
	return text(Number.isFinite(value) ? String(value) : value);
}

function text(value: unknown): string | null {
	return typeof value === 'string' && value !== '' ? value : null;
}

/** A presigned URL is valid for one hour after it is issued (spec 8). */
const LIFETIME_SECONDS = 3600;
/** A stated expiry that is later than this is probably not in seconds, and is ignored. */
const LATEST_EXPIRY = Date.UTC(3000, 0);

/**
 * Returns when a presigned URL expires, in ISO 8601 UTC; `null` if that is unknown or past. The URL may state the expiry:
 * S3 by the date and lifetime of the signature, other object stores directly. Any other URL is valid for at least one hour
 * after `created` (Unix seconds), because no URL is issued before `created`.
 */
export function presignedUrlExpiry(
	url: string,
	created: number | null,
	now: number,
): string | null {
	const parameters = URL.canParse(url) ? [...new URL(url).searchParams] : [];
	const query = new Map(parameters.map(([name, value]) => [name.toLowerCase(), value]));
	// The date has the basic format, such as 20261120T143000Z.
	const date = (query.get('x-amz-date') ?? '').replace(
		/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/,
		'$1-$2-$3T$4:$5:$6Z',
	);
	const signedUntil = Date.parse(date) / 1000 + Number(query.get('x-amz-expires') ?? NaN);
	const stated = Number.isFinite(signedUntil) ? signedUntil : Number(query.get('expires') || NaN);
	const ends = [stated * 1000, ((created ?? NaN) + LIFETIME_SECONDS) * 1000];
	const end = ends.find((at) => at > now && at < LATEST_EXPIRY);
	return end === undefined ? null : new Date(end).toISOString();
}
