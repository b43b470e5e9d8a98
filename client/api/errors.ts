import type { ServiceResponse } from '../ports';
import { firstWords, inSeconds, sentences, truncate } from '../text';
import {
	CONTENT_REFUSED,
	errorRow,
	isListed,
	isSpecified,
	mayHavePassed,
	type RetryRule,
} from './error-table';
import { asRecord, reasonIn, type GenerationItem } from './generation';
import { retryAfterMs } from './retry-after';
import { isContentRefusal } from './states';

/** Whether credits were charged. `paid`: a generation exists. `unknown`: a creating request got no conclusive response. */
export type Charge = 'none' | 'refunded' | 'paid' | 'unknown';

/** A generation with a known id. Its other fields may be missing. */
export type KnownGeneration = Pick<GenerationItem, 'id'> & Partial<GenerationItem>;

/** Keeps only the last known state of each generation. */
export function eachOnce(known: KnownGeneration[]): KnownGeneration[] {
	return [...new Map(known.map((generation) => [generation.id, generation])).values()];
}

/** The fields of a `GenerationError`. The title becomes its `message`; `cause` keeps an unexpected error. */
export type GenerationErrorFields = { title: string; description: string; code: string } & Partial<
	Omit<GenerationError, 'with' | 'fields' | 'name' | 'message' | 'stack'>
>;

/**
 * Any error of an item or a request. When the nodes show an item's error, they add a sentence about the charge. They add
 * none for the charge `unknown`: the title or details must then say that the item may have been charged.
 */
export class GenerationError extends Error {
	/** More about what happened. When the error is shown, the sentence about the charge follows. */
	readonly details: string = '';
	readonly description!: string;
	/** The service's code (spec 7), or one of our own. */
	readonly code!: string;
	readonly serviceMessage: string | null = null;
	/** HTTP status; `null` if there was no response. */
	readonly status: number | null = null;
	readonly charge: Charge = 'none';
	readonly retry: RetryRule = 'never';
	/** How long the service or a proxy asks to wait (`Retry-After`), in milliseconds; `null` if it does not. */
	readonly retryAfterMs: number | null = null;
	/** True if every further creating request of the step would be rejected too. */
	readonly fatalForStep: boolean = false;
	/** The generation that the error is about, if one exists. */
	readonly generation: KnownGeneration | null = null;
	/** True if the item was not sent because another item failed, or because of a spending limit. */
	readonly skipped: boolean = false;

	static {
		// Set on the prototype: as a property of each error, the name would be copied into `fields`.
		this.prototype.name = 'GenerationError';
	}

	constructor({ title, cause, ...fields }: GenerationErrorFields) {
		super(title, cause === undefined ? undefined : { cause });
		const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
		Object.assign(this, Object.fromEntries(defined));
	}

	/** The error as plain data, without its cause. `new GenerationError(fields)` restores the error. */
	get fields(): GenerationErrorFields {
		return { ...this, title: this.message };
	}

	/** Returns a copy with some fields replaced. */
	with(changes: Partial<GenerationErrorFields>): GenerationError {
		return new GenerationError({ ...this.fields, cause: this.cause, ...changes });
	}
}

/** The step has ended, or is about to sleep. No creating request is sent afterwards. */
export class CancelledError extends Error {
	override readonly name = 'CancelledError';

	constructor() {
		super('The execution was stopped');
	}
}

/**
 * Converts an unsuccessful response into an error (spec 7). The charge of a creating request is `unknown` if a proxy may
 * have passed the request on and then sent this response itself. Otherwise, nothing was charged.
 *
 * @param charging true if the request could have charged credits
 * @param subject the model or the generation id of the request, if it has one
 * @param now the time of the response, for a `Retry-After` with a date
 */
export function errorFromResponse(
	response: ServiceResponse,
	charging: boolean,
	subject: string | null = null,
	now = 0,
): GenerationError {
	const { status, body } = response;
	const asked = retryAfterMs(response, now);
	const errorBody = readErrorBody(body, status);
	const { message = null, param = null } = errorBody ?? {};
	const code = codeOf(errorBody?.code ?? null, status, charging);
	const row = errorRow(code, status, errorBody === null);
	const facts = { message: inTitle(message), param: inTitle(param), subject: inTitle(subject) };
	const specific = row.specific?.(facts, row.title) ?? null;
	const title = specific ?? row.title;
	const namesParam = [param, subject].some((named) => named && title.includes(named));
	const uncertain = charging && !errorBody?.listed && mayHavePassed(status);
	return new GenerationError({
		title,
		details: sentences(
			// Only without a specific title, because most specific titles contain the message already.
			specific === null && message && `The service says: ${message}`,
			param && !namesParam && `Parameter: ${param}`,
			errorBody === null &&
				'The response is not in the service’s format. It may come from a proxy or a website',
			asked !== null && `It asks to wait ${inSeconds(asked)} (Retry-After)`,
		),
		description: row.advice,
		serviceMessage: message,
		code: code ?? `http_${status}`,
		status,
		charge: uncertain ? 'unknown' : 'none',
		retry: row.retry,
		retryAfterMs: asked,
		fatalForStep: row.fatalForStep,
	});
}

/** Returns an error's code. A 401 to a creating request always gets a code about the API key, which allows no retry. */
function codeOf(code: string | null, status: number, charging: boolean): string | null {
	if (isContentRefusal(code) && !isSpecified(code)) return CONTENT_REFUSED;
	const isAboutApiKey = code !== null && errorRow(code, 400).isAboutKey;
	return charging && status === 401 && !isAboutApiKey ? 'authentication_error' : code;
}

/**
 * Builds the error for a 2xx response without the expected content. The error allows retries, because a later status
 * check may succeed. A creating request that got a code of spec 7 created nothing: returns the error for that code.
 */
export function unreadableAnswer(response: ServiceResponse, charging: boolean): GenerationError {
	const { status, body } = response;
	const code = readErrorBody(body, status)?.code ?? null;
	if (charging && isSpecified(code)) return errorFromResponse(response, charging);
	const said = firstWords(reasonIn(asRecord(body).error ?? body) ?? '', MAX_QUOTED) || null;
	return new GenerationError({
		title: 'The response is not from the media service',
		details: sentences(
			'It does not have the fields that the service documents',
			said && `The service says: ${said}`,
		),
		serviceMessage: said,
		description: 'Check the Base URL in the credential.',
		code: 'unreadable_answer',
		status,
		charge: charging ? 'unknown' : 'none',
		retry: 'backoff',
	});
}

const MAX_IN_TITLE = 120;
/** Maximum number of characters that an error quotes from a response that is not in the service's format. */
const MAX_QUOTED = 300;

/** Returns a text from outside as a part of a title: one line, no period. `null` if it is empty or too long. */
export function inTitle(text: string | null | undefined): string | null {
	const line = (text ?? '').replace(/\s+/g, ' ').trim().replace(/\.$/, '');
	return line === '' || line.length > MAX_IN_TITLE ? null : line;
}

/** Reads an error body (spec 2.5, and the alternate forms of spec 7). Returns `null` if it is not the service's. */
function readErrorBody(body: unknown, status: number) {
	const { code, type, message, param } = asRecord(asRecord(body).error);
	// One documented form has the HTTP status in `code`, and the code in `type`.
	const named = [code, type].find((value) => typeof value === 'string' && value !== '');
	if (named === undefined && typeof message !== 'string') return null;
	return {
		code: (named as string | undefined) ?? null,
		message: typeof message === 'string' ? truncate(message.trim()) : null,
		param: typeof param === 'string' ? truncate(param) : null,
		listed: isListed(code, type, status),
	};
}

/** True if the response had no error code: it probably came from a proxy or router, and not from the service. */
export function isForeign({ code }: GenerationError): boolean {
	return code.startsWith('http_');
}
