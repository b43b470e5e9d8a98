import type { Caller } from '../accounts/accounts';
import type { MediaType } from '../models/model';
import { defaultReason, readDirectives } from './directives';
import type { Directives } from './directives';
import { isErrorName, ServiceError } from '../basics/errors';
import type { FaultAction } from '../faults';
import type { Failure, Generation, Output } from './generations';
import { withOwnPicture } from './start';
import { limitError, orderedError, standingOf } from './limits';
import type { Standing } from './limits';
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
	standing: Standing,
): void {
	if (!asked.reject || !isErrorName(asked.reject.code)) return;
	const name = `${account.name} ${prompt}`;
	const before = workshop.rejections.get(name) ?? 0;
	if (before >= asked.reject.times) return;
	workshop.rejections.set(name, before + 1);
	throw orderedError(asked.reject.code, standing);
}

/** Throws the first limit that the request would exceed. */
function assertLimits({ account, connection }: Caller, standing: Standing): void {
	const { needed, balance, running, concurrency, dailyLimit } = standing;
	if (balance < needed) {
		const empty403 = balance === 0 && account.emptyForm === 403;
		throw limitError(empty403 ? 'insufficient_credits_403' : 'insufficient_credits', standing);
	}
	if (connection && standing.usedInDay + needed > dailyLimit) {
		throw limitError('CONNECTION_LIMIT_REACHED', standing);
	}
	if (running >= concurrency) throw limitError('CONCURRENCY_LIMIT_REACHED', standing);
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
	if (ordered?.kind === 'fail') {
		const { reason = defaultReason, asText = false, code } = ordered;
		return { reason, asText, code };
	}
	return asked.fail ?? null;
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
function freshId({ random, ledger }: Workshop, isNumeric: boolean): string {
	// From 2^53 + 1 on, with an odd last digit: the nearest number in JavaScript is another one.
	const draw = (): string =>
		isNumeric ? `9${Math.floor(random() * 1e9) + 1e9}00000001` : uuidFrom(random);
	let id = draw();
	while (ledger.find(id)) id = draw();
	return id;
}

function repeatName({ account }: Caller, idempotencyKey: string): string {
	return `${account.name} ${idempotencyKey}`;
}

/** Makes a restored generation the one of its idempotency key. */
export function rememberKey({ repeats }: Workshop, generation: Generation): void {
	const { caller, idempotencyKey } = generation;
	if (idempotencyKey !== null) repeats?.set(repeatName(caller, idempotencyKey), generation);
}

/**
 * Creates a generation, or returns the one that the same `Idempotency-Key` created before. The spec does not name that
 * header, so the sandbox honors it only with a flag.
 *
 * @param create gets the key that the generation is created for, or null
 */
export function createOnce(
	workshop: Workshop,
	caller: Caller,
	headers: Readonly<Record<string, string | undefined>>,
	create: (idempotencyKey: string | null) => Generation,
): { made: Generation; charged: number } {
	const idempotencyKey = headers['idempotency-key'];
	if (!idempotencyKey || !workshop.repeats) {
		const made = create(null);
		return { made, charged: made.charged };
	}
	const before = workshop.repeats.get(repeatName(caller, idempotencyKey));
	if (before && workshop.ledger.find(before.id)) return { made: before, charged: 0 };
	const made = create(idempotencyKey);
	rememberKey(workshop, made);
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
	{ ordered, idempotencyKey }: { ordered: FaultAction | null; idempotencyKey: string | null },
): Generation {
	if (!caller.mayCreate) throw new ServiceError('forbidden');
	if (caller.connection?.paused) throw new ServiceError('CONNECTION_PAUSED');
	const valid = validateCreation(body, type);
	const asked = readDirectives(valid.prompt);
	const standing = standingOf(workshop.ledger, caller, valid.credits, now);
	rejectAsAsked(workshop, caller, valid.prompt, asked, standing);
	assertLimits(caller, standing);
	const milliseconds = (secondsOf(workshop, valid, asked, ordered) * 1000) / workshop.timeScale;
	const id = freshId(workshop, ordered?.kind === 'numericId');
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
		revisedPrompt: asked.revised ?? null,
		idempotencyKey,
		createdAt: now,
		processingAt: now + Math.min(milliseconds * 0.2, 2000 / workshop.timeScale),
		finishAt: now + milliseconds,
		failure: failureOf(asked, ordered),
		end: ordered?.kind === 'end' ? ordered.status : (asked.end ?? null),
		withoutUrl: asked.withoutUrl ?? null,
		inline: ordered?.kind === 'inline' ? (ordered.as ?? 'b64_json') : null,
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
