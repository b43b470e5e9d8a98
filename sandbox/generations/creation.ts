import type { Caller } from '../accounts/accounts';
import type { MediaType } from '../models/model';
import { defaultReason, readDirectives } from './directives';
import type { Directives } from './directives';
import { isErrorName, ServiceError } from '../basics/errors';
import type { FaultAction } from '../faults';
import type { Failure, Generation, Output } from './generations';
import { withOwnPicture } from './start';
import { assertLimits } from './limits';
import type { Ledger } from '../books/ledger';
import type { Presigner } from '../storage/presign';
import { uuidFrom } from '../basics/random';
import type { Random } from '../basics/random';
import type { GenerationTime } from './timing';
import { validateCreation } from './validation';
import type { ValidRequest } from './validation';

/** Returns the path of an output at the storage origin. */
function outputPath(id: string, type: MediaType): string {
	return `/media-outputs/${id}.${type === 'image' ? 'png' : 'mp4'}`;
}

/** The parts of the service that creation uses. */
export interface Workshop {
	readonly ledger: Ledger;
	readonly presigner: Presigner;
	readonly random: Random;
	readonly generationTime: GenerationTime;
	/** Divides generation times. */
	readonly timeScale: number;
	readonly urlLifetimeSeconds: number;
	readonly storageOrigin: () => string;
	/** How often a `[reject: …]` prompt has been rejected, by account and prompt. */
	readonly rejections: Map<string, number>;
	/** The generation of each idempotency key, by account and key; `null` if the header is ignored. */
	readonly repeats: Map<string, Generation> | null;
}

function rejectAsAsked(
	workshop: Workshop,
	{ account }: Caller,
	prompt: string,
	asked: Directives,
): void {
	if (!asked.reject || !isErrorName(asked.reject.code)) return;
	const name = `${account.name} ${prompt}`;
	const before = workshop.rejections.get(name) ?? 0;
	if (before >= asked.reject.times) return;
	workshop.rejections.set(name, before + 1);
	throw new ServiceError(asked.reject.code);
}

function outputOf(valid: ValidRequest, asked: Directives, random: Random): Output {
	const { model, width, height, duration, fps } = valid;
	const drawn = Math.floor(random() * 2 ** 31);
	const basics = {
		width,
		height,
		seed: valid.seed ?? drawn,
		prompt: asked.plain,
		modelName: model.name,
		bytes: asked.bytes ?? null,
	};
	return model.type === 'image'
		? { type: 'image', ...basics }
		: { type: 'video', ...basics, duration, fps };
}

function failureOf(asked: Directives, ordered: FaultAction | null): Failure | null {
	if (ordered?.kind !== 'fail') return asked.fail ?? null;
	return { reason: ordered.reason ?? defaultReason, asText: false };
}

function secondsOf(
	workshop: Workshop,
	valid: ValidRequest,
	asked: Directives,
	ordered: FaultAction | null,
): number {
	if (ordered?.kind === 'seconds') return ordered.seconds;
	if (asked.seconds !== undefined) return asked.seconds;
	const { model, prompt } = valid;
	const { random, ledger, generationTime } = workshop;
	return generationTime({ model, prompt, index: ledger.all.length, random });
}

/** Returns an ID that no generation has. After a restart, the same seed draws the IDs of restored generations again. */
function freshId({ random, ledger }: Workshop): string {
	let id = uuidFrom(random);
	while (ledger.find(id)) id = uuidFrom(random);
	return id;
}

/**
 * Creates a generation, or returns the one that the same `Idempotency-Key` created before. The spec does not name that
 * header, so the sandbox honors it only with a flag.
 */
export function createOnce(
	{ repeats, ledger }: Workshop,
	{ account }: Caller,
	headers: Readonly<Record<string, string | undefined>>,
	create: () => Generation,
): { made: Generation; charged: number } {
	const key = headers['idempotency-key'];
	const name = key ? `${account.name} ${key}` : null;
	const before = name === null ? undefined : repeats?.get(name);
	if (before && ledger.find(before.id)) return { made: before, charged: 0 };
	const made = create();
	if (name !== null) repeats?.set(name, made);
	return { made, charged: made.charged };
}

/** Replaces a URL that has less than a tenth of its lifetime left (spec 4.3). */
export function refreshUrl(workshop: Workshop, generation: Generation, now: number): void {
	const lifetime = workshop.urlLifetimeSeconds;
	if (generation.urlExpiresAt - now > lifetime * 100) return;
	const path = outputPath(generation.id, generation.model.type);
	const signed = workshop.presigner.sign(workshop.storageOrigin(), path, now, lifetime);
	generation.url = signed.url;
	generation.urlExpiresAt = signed.expiresAt;
}

/**
 * Handles a create request (spec 3, 4.1, 4.2): validates it, plans the generation and charges it. `ordered` is a fault
 * that affects the generation itself. Throws a `ServiceError` for the error response.
 */
export function createGeneration(
	workshop: Workshop,
	caller: Caller,
	type: MediaType,
	body: unknown,
	now: number,
	ordered: FaultAction | null,
): Generation {
	if (!caller.mayCreate) throw new ServiceError('forbidden');
	if (caller.connection?.paused) throw new ServiceError('CONNECTION_PAUSED');
	const valid = validateCreation(body, type);
	const asked = readDirectives(valid.prompt);
	rejectAsAsked(workshop, caller, valid.prompt, asked);
	assertLimits(workshop.ledger, caller, valid.credits, now);
	const milliseconds = (secondsOf(workshop, valid, asked, ordered) * 1000) / workshop.timeScale;
	const id = freshId(workshop);
	const path = outputPath(id, type);
	const origin = workshop.storageOrigin();
	const signed = workshop.presigner.sign(origin, path, now, workshop.urlLifetimeSeconds);
	const request = body as Readonly<Record<string, unknown>>;
	const generation: Generation = {
		id,
		caller,
		model: valid.model,
		prompt: valid.prompt,
		request,
		output: withOwnPicture(outputOf(valid, asked, workshop.random), request, workshop.ledger),
		ignored: valid.ignored,
		createdAt: now,
		processingAt: now + Math.min(milliseconds * 0.2, 2000 / workshop.timeScale),
		finishAt: now + milliseconds,
		failure: failureOf(asked, ordered),
		end: ordered?.kind === 'end' ? ordered.status : (asked.end ?? null),
		withoutUrl: asked.withoutUrl ?? null,
		outputs: asked.outputs ?? 1,
		charged: valid.credits,
		refunded: 0,
		url: signed.url,
		urlExpiresAt: signed.expiresAt,
		fetched: [],
	};
	workshop.ledger.open(generation);
	return generation;
}
