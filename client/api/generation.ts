import { truncate } from '../text';
import { asRecord } from './json';

export type GenerationType = 'image' | 'video';

/**
 * A generation as the nodes return it. `readGeneration` builds it from the wire format (spec 2.1). Every item has all
 * keys; unknown values are `null`.
 */
export interface GenerationItem {
	/** `pending`, `processing`, `completed` or `failed`, as reported by the service. */
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

/** A generation inside the client: its output item, and the reason if it failed. */
export interface Generation {
	item: GenerationItem;
	/** The service's reason; `null` if there is none. */
	failureReason: string | null;
}

/**
 * The values of an item without any known field. All nodes that return generations use the same keys in this order, which
 * is the order of n8n's output panel.
 */
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

/** Returns a generation with only its id known. */
export function unseen(id: string): Generation {
	return { item: { ...NOTHING_KNOWN, id }, failureReason: null };
}

/** True for `completed` and `failed`, at which polling stops (spec 3). */
export function isFinal(generation: Generation): boolean {
	return isCompleted(generation) || isFailed(generation);
}

/** True if the output exists. This status does not change any more (spec 3). */
export function isCompleted(generation: Generation): boolean {
	return generation.item.status === 'completed';
}

/** True if the generation failed. The service has refunded it (spec 1.4). */
export function isFailed(generation: Generation): boolean {
	return generation.item.status === 'failed';
}

/**
 * Reads the response to a creating or status request (spec 2.1).
 *
 * @param body parsed JSON
 * @param now milliseconds since the Unix epoch, to compute when the URL expires
 * @returns the generation; `null` if the body has no id
 */
export function readGeneration(body: unknown, now: number): Generation | null {
	const wire = asRecord(body);
	const entry = asRecord(Array.isArray(wire.data) ? wire.data[0] : undefined);
	const id = idIn(wire.id) ?? idIn(entry.generation_id);
	if (id === null) return null;

	const created = typeof wire.created === 'number' ? wire.created : null;
	const url = text(entry.url);
	return {
		item: {
			...NOTHING_KNOWN,
			status: text(wire.status) ?? text(entry.status) ?? 'pending',
			model: text(wire.model) ?? text(entry.model),
			type: text(wire.type),
			id,
			created,
			url_expires_at: url === null ? null : presignedUrlExpiry(url, created, now),
			revised_prompt: text(entry.revised_prompt),
			url,
		},
		failureReason: readFailureReason(wire.error ?? entry.error),
	};
}

/** Reads any form of a failed generation's `error`. Spec 2.1 shows neither its place nor its shape. */
function readFailureReason(error: unknown): string | null {
	if (error === undefined || error === null) return null;
	if (typeof error === 'string') return truncate(error);
	const { message, reason, code } = asRecord(error);
	return truncate(text(message) ?? text(reason) ?? text(code) ?? JSON.stringify(error));
}

/** A number is an id, too: without it, what was charged would be lost. */
function idIn(value: unknown): string | null {
	return text(Number.isFinite(value) ? String(value) : value);
}

function text(value: unknown): string | null {
	return typeof value === 'string' && value !== '' ? value : null;
}

/** A presigned URL is valid for one hour after it is issued (spec 8). */
const LIFETIME_SECONDS = 3600;
/** An earlier expiry is not a date but a lifetime: some stores write one into the same parameter. */
const EARLIEST_EXPIRY = Date.UTC(2000, 0);
/** A later one is not in seconds. */
const LATEST_EXPIRY = Date.UTC(3000, 0);

/**
 * Returns when a presigned URL expires. Object stores state this in the URL. Otherwise the hour of the spec counts
 * from the generation's creation. This is a safe lower bound, because no URL is issued earlier.
 *
 * @param created Unix seconds at which the generation was accepted, if known
 * @param now milliseconds since the Unix epoch
 * @returns ISO 8601 UTC; `null` if unknown
 */
export function presignedUrlExpiry(
	url: string,
	created: number | null,
	now: number,
): string | null {
	const stated = statedExpiry(url);
	const expiry = stated >= EARLIEST_EXPIRY && stated < LATEST_EXPIRY ? isoTime(stated) : null;
	if (expiry !== null || created === null) return expiry;
	const bound = (created + LIFETIME_SECONDS) * 1000;
	return bound > now ? isoTime(bound) : null;
}

/** Also `null` for a value outside of the range of dates: a strange URL must not fail its generation. */
function isoTime(ms: number): string | null {
	const date = new Date(ms);
	return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** Milliseconds since the Unix epoch, from the date and lifetime of the signature (S3, GCS) or a plain expiry. */
function statedExpiry(url: string): number {
	const parameters = URL.canParse(url) ? [...new URL(url).searchParams] : [];
	const query = new Map(parameters.map(([name, value]) => [name.toLowerCase(), value]));
	for (const vendor of ['x-amz', 'x-goog']) {
		const issued = basicIsoDate(query.get(`${vendor}-date`));
		const end = issued + Number(query.get(`${vendor}-expires`) ?? NaN) * 1000;
		if (Number.isFinite(end)) return end;
	}
	return Number(query.get('expires') || NaN) * 1000;
}

/** Converts `20261120T143000Z`, the format of signatures, to milliseconds since the Unix epoch. */
function basicIsoDate(text = ''): number {
	return Date.parse(
		text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
	);
}
