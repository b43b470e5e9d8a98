import type { Caller } from '../accounts/accounts';
import type { Fps, MediaType, Model } from '../models/model';
import type { FetchedInput } from './input-fetch';

interface OutputBasics {
	readonly width: number;
	readonly height: number;
	readonly seed: number;
	/** The prompt as drawn, without directives. */
	readonly prompt: string;
	readonly modelName: string;
	/** Size in bytes that the file is padded to, or null. */
	readonly bytes: number | null;
}

/** The image that a generation creates. */
export interface ImageOutput extends OutputBasics {
	readonly type: 'image';
}

/** The video that a generation creates. `duration` is in seconds. */
export interface VideoOutput extends OutputBasics {
	readonly type: 'video';
	readonly duration: number;
	readonly fps: Fps;
	/** The picture that it starts from: an output of this sandbox, or a fetched file as a data URI. */
	readonly start?: ImageOutput | string;
}

export type Output = ImageOutput | VideoOutput;

/** The reason for a failure. Spec 2.1 does not show the shape of `error`, and both shapes occur. */
export interface Failure {
	readonly reason: string;
	/** True if `error` is plain text. False if it is an object as in spec 2.5. */
	readonly asText: boolean;
	/** The code in `error`. Default: `generation_failed`. */
	readonly code?: string;
}

/**
 * A generation. Its state changes are planned at creation, and only `finish` changes them later. Times are milliseconds
 * since 1970.
 */
export interface Generation {
	readonly id: string;
	readonly caller: Caller;
	readonly model: Model;
	readonly prompt: string;
	readonly request: Readonly<Record<string, unknown>>;
	/** That of a video changes once its picture is fetched. */
	output: Output;
	/** The fields of the request that have no effect. */
	readonly ignored: readonly string[];
	readonly createdAt: number;
	readonly processingAt: number;
	finishAt: number;
	failure: Failure | null;
	/** The final state, if it is one that the spec does not name. The generation has no output and is not refunded. */
	readonly end: string | null;
	/** Set if it is completed without an output URL. */
	readonly withoutUrl: { readonly reason: string | null } | null;
	/** Number of entries in `data`; one in spec 2.1. */
	readonly outputs: number;
	readonly charged: number;
	refunded: number;
	url: string;
	/** Expiration time of `url` in milliseconds since 1970. */
	urlExpiresAt: number;
	/** The files that were fetched for it. Empty if the sandbox fetches none. */
	fetched: FetchedInput[];
}

/** Returns the status of a generation at a given time (spec 3). */
export function statusAt(generation: Generation, now: number): string {
	if (now >= generation.finishAt) {
		if (generation.end !== null) return generation.end;
		return generation.failure ? 'failed' : 'completed';
	}
	return now >= generation.processingAt ? 'processing' : 'pending';
}

/** The JSON format of spec 2.1. */
export interface GenerationEntry {
	id: string;
	status: string;
	created: number;
	model: string;
	type: MediaType;
	data: Array<{
		/** Missing only by order. */
		url: string;
		generation_id: string;
		status: string;
		model: string;
		/** Every model uses the prompt unchanged. */
		revised_prompt: null;
	}>;
	error?: unknown;
}

function errorOf(failure: Failure): unknown {
	if (failure.asText) return failure.reason;
	return {
		code: failure.code ?? 'generation_failed',
		message: failure.reason,
		type: 'server_error',
		param: null,
	};
}

/** Returns a generation in the format of create and status responses (spec 2.1). */
export function entryAt(
	generation: Generation,
	now: number,
	status = statusAt(generation, now),
): GenerationEntry {
	const { id, model, withoutUrl } = generation;
	const isCompleted = status === 'completed';
	const output = isCompleted && withoutUrl ? {} : { url: generation.url };
	const entry: GenerationEntry = {
		id,
		status,
		created: Math.floor(generation.createdAt / 1000),
		model: model.id,
		type: model.type,
		data: Array.from({ length: generation.outputs }, () => {
			const more = { generation_id: id, status, model: model.id, revised_prompt: null };
			return { ...output, ...more } as GenerationEntry['data'][number];
		}),
	};
	if (status === 'failed' && generation.failure) entry.error = errorOf(generation.failure);
	const reason = isCompleted ? (withoutUrl?.reason ?? null) : null;
	if (reason !== null) entry.error = errorOf({ reason, asText: false });
	return entry;
}
