import { errorRow, isListed, type RetryRule } from './error-table';
import type { GenerationItem } from './generation';
import { brief } from '../basics/brief';
import type { ServiceResponse } from '../basics/ports';

/**
 * What an error means for the account's credits: nothing was charged; a charge was given back; a generation is paid
 * for and exists; or the answer to a creating request was lost, so nobody here knows.
 */
export type Charge = 'none' | 'refunded' | 'paid' | 'unknown';

export interface GenerationErrorFields {
	/** What happened, for a person. */
	title: string;
	/** What to do next. */
	description: string;
	/** The service's code (spec 7), or one of ours for what the service has no code for. */
	code: string;
	/** The service's own words, where it had any. */
	said?: string | null;
	/** HTTP status, `null` where no answer came. */
	status?: number | null;
	charge?: Charge;
	retry?: RetryRule;
	stopsSubmitting?: boolean;
	/** The generation that this is about, where one exists. */
	generation?: KnownGeneration | null;
	/** True where the request of the item never left, for what had happened to another. */
	unsent?: boolean;
	/** What was thrown, where nobody expected that: for its trace. */
	cause?: unknown;
}

/** A generation of which at least the id is known. */
export type KnownGeneration = Pick<GenerationItem, 'id'> & Partial<GenerationItem>;

/** Of generations that several items may share, each once, as it was known last. */
export function eachOnce(known: KnownGeneration[]): KnownGeneration[] {
	return [...new Map(known.map((generation) => [generation.id, generation])).values()];
}

/** Everything that can go wrong with one item or request, in one shape. */
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

	/** The same error with some of its fields replaced. */
	with(changes: Partial<GenerationErrorFields>): GenerationError {
		return new GenerationError({ ...this, title: this.message, cause: this.cause, ...changes });
	}
}

/** Bad input, found before anything was sent or paid. */
export class InvalidInputError extends GenerationError {
	constructor(title: string, description: string) {
		super({ title, description, code: 'invalid_input' });
		this.name = 'InvalidInputError';
	}
}

/** The user stopped the execution, or it timed out: nothing is sent any more. */
export class CancelledError extends Error {
	constructor() {
		super('The execution was stopped');
		this.name = 'CancelledError';
	}
}

/** What the service's own error body says (spec 2.5 and the alternate forms of spec 7). */
interface ServiceErrorBody {
	code: string | null;
	message: string | null;
	param: string | null;
	/** Whether it is a 5xx that spec 7 lists. */
	listed: boolean;
}

/**
 * Turns an answer that is no success into an error (spec 7).
 *
 * @param charging whether the request could have charged credits. What something on the way answers then leaves open
 * whether it did, unless a gatekeeper says that it let nothing pass; the service's own errors say that nothing was made.
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
 * A 2xx answer that does not hold what was asked for. After a creating request nobody knows whether credits were
 * charged; a look at a generation will read better in a while.
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

/** Whether something on the way that answers so may have let the request pass first: it lost sight of the service. */
function mayHavePassed(status: number): boolean {
	return status >= 500 || status === 408 || status === 499;
}

/** The service's own error body, or `null` where the body is something else (HTML, empty, foreign JSON). */
function readErrorBody(body: unknown, status: number): ServiceErrorBody | null {
	const error = body && typeof body === 'object' ? (body as { error?: unknown }).error : undefined;
	if (!error || typeof error !== 'object') return null;
	const { code, type, message, param } = error as Record<string, unknown>;
	// One stated form has the HTTP status as `code`, and the code in `type`.
	const named = [code, type].find((value) => typeof value === 'string' && value !== '');
	if (named === undefined && typeof message !== 'string') return null;
	return {
		code: (named as string | undefined) ?? null,
		message: typeof message === 'string' ? brief(message) : null,
		param: typeof param === 'string' ? brief(param) : null,
		listed: isListed(code, type, status),
	};
}

/** Words of the service that are longer than this are no title. */
const LONGEST_REASON = 120;

/** A title with the reason in it, in the service's own words where they are short and say more than the title does. */
export function titled(title: string, reason: string | null | undefined): string {
	const words = news(title, reason).replace(/\.$/, '');
	return words === '' || words.length > LONGEST_REASON ? title : `${title}: ${words}`;
}

/** What the service says, as a sentence; nothing where the title says it already. */
export function theService(words: string | null | undefined, title: string): string | null {
	const told = news(title, words);
	return told === '' ? null : `The service says: ${told}`;
}

/** What a text says beyond the title: without the sentences at its beginning that say the same in similar words. */
function news(title: string, text: string | null | undefined): string {
	const written = (text ?? '').replace(/\s+/g, ' ').trim();
	const known = tellingWords(title);
	const sentencesOf = written.split(/(?<=[.!?]) /);
	const first = sentencesOf.findIndex((sentence) => {
		return tellingWords(sentence).some((word) => !known.includes(word));
	});
	return first < 0 ? '' : sentencesOf.slice(first).join(' ');
}

/** The words that carry a text: where there are long ones and numbers, these. */
function tellingWords(text: string): string[] {
	const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
	const long = words.filter((word) => word.length > 4 || /\p{N}/u.test(word));
	return long.length > 0 ? long : words;
}

/** Joins what there is to say, and leaves out what there is not. */
export function sentences(...parts: Array<string | false | null | undefined>): string {
	return parts
		.filter((part): part is string => typeof part === 'string' && part !== '')
		.map((part) => (/[.!?]$/.test(part) ? part : `${part}.`))
		.join(' ');
}

/** Whether an answer was not the service's own, but that of something on the way to it, such as a router's page. */
export function isForeign({ code }: GenerationError): boolean {
	return code.startsWith('http_');
}
