import { brief } from '../basics/brief';
import { presignedUrlExpiry } from './presigned-url';

export type GenerationType = 'image' | 'video';

/**
 * A generation as our nodes hand it on: the one place where the wire format (spec 2.1) becomes an output item.
 * The keys are always the same; what is not known is `null`.
 */
export interface GenerationItem {
	id: string;
	/** `pending`, `processing`, `completed` or `failed`, as the service says. */
	status: string | null;
	type: string | null;
	model: string | null;
	/** Unix seconds. */
	created: number | null;
	/** Presigned output URL. */
	url: string | null;
	/** ISO 8601 UTC. */
	url_expires_at: string | null;
	revised_prompt: string | null;
	/** True only where waiting ended before the generation did. */
	timed_out: boolean;
}

/** A generation as the rules see it: the item to hand on, and why it failed if it did. */
export interface Generation {
	item: GenerationItem;
	/** The service's reason, `null` where there is none. */
	failureReason: string | null;
}

/** The keys of an item of which nothing is known: all nodes that hand on generations have the same ones. */
export const NOTHING_KNOWN = {
	id: null,
	status: null,
	type: null,
	model: null,
	created: null,
	url: null,
	url_expires_at: null,
	revised_prompt: null,
	timed_out: false,
} satisfies Record<keyof GenerationItem, null | false>;

/** A generation of which nothing but its id is known. */
export function unseen(id: string): Generation {
	return { item: { ...NOTHING_KNOWN, id }, failureReason: null };
}

/** `completed` and `failed` are final: polling stops on them (spec 3). */
export function isFinal(generation: Generation): boolean {
	return isCompleted(generation) || isFailed(generation);
}

/** Its output is there, and stays (spec 3). */
export function isCompleted(generation: Generation): boolean {
	return generation.item.status === 'completed';
}

/** A failed generation was refunded by the service (spec 1.4). */
export function isFailed(generation: Generation): boolean {
	return generation.item.status === 'failed';
}

/**
 * Reads the answer of a creating or status request (spec 2.1).
 *
 * @param body parsed JSON
 * @param now milliseconds since the Unix epoch, to tell when the URL expires
 * @returns the generation, or `null` where the body is none (no id in it)
 */
export function readGeneration(body: unknown, now: number): Generation | null {
	const wire = asRecord(body);
	const entry = asRecord(Array.isArray(wire.data) ? wire.data[0] : undefined);
	const id = text(wire.id) ?? text(entry.generation_id);
	if (id === null) return null;

	const created = typeof wire.created === 'number' ? wire.created : null;
	const url = text(entry.url);
	return {
		item: {
			id,
			status: text(wire.status) ?? text(entry.status) ?? 'pending',
			type: text(wire.type),
			model: text(wire.model) ?? text(entry.model),
			created,
			url,
			url_expires_at: url === null ? null : presignedUrlExpiry(url, created, now),
			revised_prompt: text(entry.revised_prompt),
			timed_out: false,
		},
		failureReason: readFailureReason(wire.error ?? entry.error),
	};
}

/** Neither the place nor the inner shape of a failed generation's `error` is shown (spec 2.1), so any is read. */
function readFailureReason(error: unknown): string | null {
	if (error === undefined || error === null) return null;
	if (typeof error === 'string') return brief(error);
	const { message, reason, code } = asRecord(error);
	return brief(text(message) ?? text(reason) ?? text(code) ?? JSON.stringify(error));
}

function asRecord(value: unknown): Record<string, unknown> {
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | null {
	return typeof value === 'string' && value !== '' ? value : null;
}
