import type { Caller } from '../accounts/accounts';
import type { Fps, MediaType, Model } from '../models/model';

export type Status = 'pending' | 'processing' | 'completed' | 'failed';

interface OutputBasics {
	readonly width: number;
	readonly height: number;
	readonly seed: number;
	/** The prompt as drawn, without directives. */
	readonly prompt: string;
	readonly modelName: string;
	/** The file is padded to so many bytes, or null. */
	readonly bytes: number | null;
}

/** The picture that a generation makes. */
export interface ImageOutput extends OutputBasics {
	readonly type: 'image';
}

/** The video that a generation makes; `duration` in seconds. */
export interface VideoOutput extends OutputBasics {
	readonly type: 'video';
	readonly duration: number;
	readonly fps: Fps;
}

export type Output = ImageOutput | VideoOutput;

/** The reason of a failure. The inner shape of `error` is not shown in spec 2.1: both are seen. */
export interface Failure {
	readonly reason: string;
	/** True: `error` is the bare text; false: an object like spec 2.5's. */
	readonly asText: boolean;
}

/** A generation with its whole course planned at creation; times in milliseconds since 1970. */
export interface Generation {
	readonly id: string;
	readonly caller: Caller;
	readonly model: Model;
	readonly prompt: string;
	readonly request: Readonly<Record<string, unknown>>;
	readonly output: Output;
	/** What the model has made of the prompt; null where it took it as it was. */
	readonly revisedPrompt: string | null;
	readonly createdAt: number;
	readonly processingAt: number;
	finishAt: number;
	failure: Failure | null;
	readonly charged: number;
	refunded: number;
	url: string;
	/** When `url` stops working, milliseconds since 1970. */
	urlExpiresAt: number;
}

/** Where a generation stands at a time (spec 3). */
export function statusAt(generation: Generation, now: number): Status {
	if (now >= generation.finishAt) return generation.failure ? 'failed' : 'completed';
	return now >= generation.processingAt ? 'processing' : 'pending';
}

/** The wire form of spec 2.1. */
export interface GenerationEntry {
	id: string;
	status: Status;
	created: number;
	model: string;
	type: MediaType;
	data: Array<{
		url: string;
		generation_id: string;
		status: Status;
		model: string;
		revised_prompt: string | null;
	}>;
	error?: unknown;
}

function errorOf(failure: Failure): unknown {
	if (failure.asText) return failure.reason;
	return {
		code: 'generation_failed',
		message: failure.reason,
		type: 'server_error',
		param: null,
	};
}

/** A generation as the creating and the status requests answer it (spec 2.1). */
export function entryAt(generation: Generation, now: number): GenerationEntry {
	const status = statusAt(generation, now);
	const { id, model, url } = generation;
	// The revised prompt is known only at the end.
	const revised_prompt = status === 'completed' ? generation.revisedPrompt : null;
	const entry: GenerationEntry = {
		id,
		status,
		created: Math.floor(generation.createdAt / 1000),
		model: model.id,
		type: model.type,
		data: [{ url, generation_id: id, status, model: model.id, revised_prompt }],
	};
	if (status === 'failed' && generation.failure) entry.error = errorOf(generation.failure);
	return entry;
}
