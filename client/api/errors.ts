import { errorRow, isListed, type RetryRule } from './error-table';
import type { GenerationItem } from './generation';
import { brief } from '../text';
import type { ServiceResponse } from '../ports';

/**
 * The effect of an error on the account's credits. `none`: nothing was charged. `refunded`: a charge was refunded.
 * `paid`: a generation exists and is paid for. `unknown`: the response to a creating request was lost.
 */
export type Charge = 'none' | 'refunded' | 'paid' | 'unknown';

export interface GenerationErrorFields {
	/** What happened, for the user. */
	title: string;
	/** What the user can do next. */
	description: string;
	/** The service's code (spec 7), or one of our own. */
	code: string;
	/** The service's message, if there was one. */
	said?: string | null;
	/** HTTP status; `null` if there was no response. */
	status?: number | null;
	charge?: Charge;
	retry?: RetryRule;
	stopsSubmitting?: boolean;
	/** The generation that the error is about, if one exists. */
	generation?: KnownGeneration | null;
	/** True if the item's request was not sent because another item failed. */
	unsent?: boolean;
	/** The original error if it was unexpected, for its stack trace. */
	cause?: unknown;
}

/** A generation with a known id. Its other fields may be missing. */
export type KnownGeneration = Pick<GenerationItem, 'id'> & Partial<GenerationItem>;

/** Removes duplicates by id, and keeps the last known state of each generation. */
export function eachOnce(known: KnownGeneration[]): KnownGeneration[] {
	return [...new Map(known.map((generation) => [generation.id, generation])).values()];
}

/** Any error of an item or a request. */
export class GenerationError extends Error {
	readonly code: string;
	readonly description: string;
	readonly said: string | null;
	readonly status: number | null;
	readonly charge: Charge;
	readonly retry: RetryRule;
	readonly stopsSubmitting: boolean;
	readonly generation: KnownGeneration | null;
	readonly unsent: boolean;

	constructor(fields: GenerationErrorFields) {
		super(fields.title, fields.cause === undefined ? undefined : { cause: fields.cause });
		this.name = 'GenerationError';
		this.code = fields.code;
		this.description = fields.description;
		this.said = fields.said ?? null;
		this.status = fields.status ?? null;
		this.charge = fields.charge ?? 'none';
		this.retry = fields.retry ?? 'never';
		this.stopsSubmitting = fields.stopsSubmitting ?? false;
		this.generation = fields.generation ?? null;
		this.unsent = fields.unsent ?? false;
	}

	/** Returns a copy with some fields replaced. */
	with(changes: Partial<GenerationErrorFields>): GenerationError {
		return new GenerationError({ ...this, title: this.message, cause: this.cause, ...changes });
	}
}

/** Invalid input, found before anything was sent or charged. */
export class InvalidInputError extends GenerationError {
	constructor(title: string, description: string) {
		super({ title, description, code: 'invalid_input' });
		this.name = 'InvalidInputError';
	}
}

/** The user stopped the execution, or it timed out. Nothing is sent afterwards. */
export class CancelledError extends Error {
	constructor() {
		super('The execution was stopped');
		this.name = 'CancelledError';
	}
}

/** The service's error body (spec 2.5, and the alternate forms of spec 7). */
interface ServiceErrorBody {
	code: string | null;
	message: string | null;
	param: string | null;
	/** True for a 5xx that spec 7 lists. */
	listed: boolean;
}

/**
 * Converts an unsuccessful response into an error (spec 7).
 *
 * The service's own errors mean that nothing was created. A proxy's error leaves the charge unknown, unless its
 * status means that the request did not pass.
 *
 * @param charging true if the request could have charged credits
 */
export function errorFromResponse(response: ServiceResponse, charging: boolean): GenerationError {
	const { status } = response;
	const own = readErrorBody(response.body, status);
	const row = errorRow(own?.code ?? null, status);
	const uncertain = charging && !own?.listed && mayHavePassed(status);
	const title = titled(row.title, own?.message);
	return new GenerationError({
		title,
		description: sentences(
			theService(own?.message, title),
			own?.param && `Parameter: ${own.param}.`,
			own === null &&
				'The answer was not the service’s own, but that of something on the way to it.',
			row.advice,
		),
		said: own?.message,
		code: own?.code ?? `http_${status}`,
		status,
		charge: uncertain ? 'unknown' : 'none',
		retry: row.retry,
		stopsSubmitting: row.stopsSubmitting,
	});
}

/**
 * Builds the error for a 2xx response without the expected content. After a creating request, the charge is unknown.
 * A status check may succeed later.
 */
export function unreadableAnswer(response: ServiceResponse, charging: boolean): GenerationError {
	return new GenerationError({
		title: 'The answer of the service could not be read',
		description:
			'It was not of the form that the interface promises. Check the Base URL in the credential.',
		code: 'unreadable_answer',
		status: response.status,
		charge: charging ? 'unknown' : 'none',
		retry: 'backoff',
	});
}

/** True if a proxy that answers with this status may have passed the request on before. */
function mayHavePassed(status: number): boolean {
	return status >= 500 || status === 408 || status === 499;
}

/** Returns the service's error body; `null` for any other body, such as HTML, an empty body or foreign JSON. */
function readErrorBody(body: unknown, status: number): ServiceErrorBody | null {
	const error = body && typeof body === 'object' ? (body as { error?: unknown }).error : undefined;
	if (!error || typeof error !== 'object') return null;
	const { code, type, message, param } = error as Record<string, unknown>;
	// One documented form has the HTTP status in `code`, and the code in `type`.
	const named = [code, type].find((value) => typeof value === 'string' && value !== '');
	if (named === undefined && typeof message !== 'string') return null;
	return {
		code: (named as string | undefined) ?? null,
		message: typeof message === 'string' ? brief(message) : null,
		param: typeof param === 'string' ? brief(param) : null,
		listed: isListed(code, type, status),
	};
}

/** Longer messages of the service are not added to a title. */
const LONGEST_REASON = 120;

/** Returns a title with the service's reason, if that is short and adds information. */
export function titled(title: string, reason: string | null | undefined): string {
	const words = news(title, reason).replace(/\.$/, '');
	return words === '' || words.length > LONGEST_REASON ? title : `${title}: ${words}`;
}

/** Returns the service's message as a sentence; `null` if it adds nothing to the title. */
export function theService(words: string | null | undefined, title: string): string | null {
	const told = news(title, words);
	return told === '' ? null : `The service says: ${told}`;
}

/** Returns a text without its first sentences that only repeat the title in similar words. */
function news(title: string, text: string | null | undefined): string {
	const written = (text ?? '').replace(/\s+/g, ' ').trim();
	const known = tellingWords(title);
	const sentencesOf = written.split(/(?<=[.!?]) /);
	const first = sentencesOf.findIndex((sentence) => {
		return tellingWords(sentence).some((word) => !known.includes(word));
	});
	return first < 0 ? '' : sentencesOf.slice(first).join(' ');
}

/** Returns the significant words of a text: long words and numbers, or all words if there are none. */
function tellingWords(text: string): string[] {
	const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
	const long = words.filter((word) => word.length > 4 || /\p{N}/u.test(word));
	return long.length > 0 ? long : words;
}

/** Joins the given sentences, and skips missing parts. */
export function sentences(...parts: Array<string | false | null | undefined>): string {
	return parts
		.filter((part): part is string => typeof part === 'string' && part !== '')
		.map((part) => (/[.!?]$/.test(part) ? part : `${part}.`))
		.join(' ');
}

/** True if the response came from a proxy or router instead of the service. */
export function isForeign({ code }: GenerationError): boolean {
	return code.startsWith('http_');
}
