import { brief } from './text';
import { InvalidInputError } from './api/errors';

/** Maximum size of an inline reference input, decoded: about 4.5 MB (spec 8). */
export const MAX_INLINE_BYTES = 4.5 * 1024 * 1024;

export const RESOLUTIONS = ['480p', '720p', '1080p'];
export const FRAME_RATES = [12, 24, 30];
export const INPUT_TYPES = ['image', 'video', 'audio'];

/**
 * Checks of user input, made before anything is sent or charged. Each returns the value in the form in which it is
 * sent. Each throws `InvalidInputError` with the field's name in it.
 */

/**
 * Builds the error for an expression that is undefined: its path is mistyped, or the item lacks the field.
 *
 * @param field its display name
 */
export function cameToNothing(field: string): InvalidInputError {
	return new InvalidInputError(
		`${field} came to nothing: its expression is undefined for this item`,
		`Check the names in the expression. Where ${field} is to be left empty for some items, let it give an empty text, such as {{ $json.name ?? '' }}.`,
	);
}

/**
 * Builds the error for an expression that returned an object, or a text with an object in it.
 *
 * @param field its display name
 */
function cameToObject(field: string): InvalidInputError {
	return new InvalidInputError(
		`${field} is an object, not a text`,
		'Choose the field of it that is meant, such as {{ $json.text }} in place of {{ $json }}.',
	);
}

/**
 * Returns the result of an expression as a plain value: text, number, boolean, `null` or a list of these. A value
 * such as a date is converted to text.
 *
 * @throws InvalidInputError if the value is undefined or an object, or contains either
 */
export function writtenOut(field: string, value: unknown): unknown {
	if (value === undefined) throw cameToNothing(field);
	if (Array.isArray(value)) return value.map((part) => writtenOut(field, part));
	if (typeof value === 'object' && value !== null) {
		const { toJSON } = value as { toJSON?: unknown };
		const written: unknown = typeof toJSON === 'function' ? toJSON.call(value) : value;
		if (typeof written === 'string') return written;
		throw cameToObject(field);
	}
	if (typeof value === 'string' && value.includes('[object Object]')) throw cameToObject(field);
	return value;
}

/** Identifies an n8n expression by its content, because some models give braces in prompts a meaning. */
const OF_N8N =
	/\$(json|input|node|item|itemIndex|binary|vars|env|execution|workflow|prevNode|parameter|runIndex|today|now|fromAI)\b|\$\(\s*["'`]|\bDateTime\./;
/** Longer texts are not written by hand, and are not checked. */
const LONGEST_WRITTEN = 50_000;

/**
 * Rejects an n8n expression in a fixed text, which would be sent without being evaluated.
 *
 * @param written parameter values before evaluation, alone or in lists and groups; texts that begin with an equals
 * sign are expressions
 * @throws InvalidInputError
 */
export function requireEvaluated(field: string, written: unknown): void {
	if (typeof written === 'object' && written !== null) {
		Object.values(written).forEach((part) => requireEvaluated(field, part));
	}
	if (typeof written !== 'string' || written.startsWith('=')) return;
	if (written.length > LONGEST_WRITTEN) return;
	const braced = written.match(/\{\{[^{}]*\}\}/g) ?? [];
	const expression = braced.find((text) => OF_N8N.test(text));
	if (expression === undefined) return;
	throw new InvalidInputError(
		`${field} holds an expression that was not evaluated: ${brief(expression)}`,
		'Switch the field from Fixed to Expression. In the JSON of a workflow its text begins with an equals sign then.',
	);
}

/** Requires a text that is not empty. A number becomes text; a boolean, NaN or Infinity is rejected. */
export function requiredText(field: string, value: unknown): string {
	if (typeof value === 'boolean' || (typeof value === 'number' && !Number.isFinite(value))) {
		throw new InvalidInputError(
			`${field} is ${value}, not a text`,
			`Check the expression in ${field}: it has to come to a text for this item.`,
		);
	}
	const given = String(writtenOut(field, value ?? null) ?? '').trim();
	if (given !== '') return given;
	throw new InvalidInputError(
		`${field} is empty`,
		`Fill in ${field}. Where it is an expression, check that it has a value for this item.`,
	);
}

/** A size in pixels, as `<width>x<height>` (spec 4.1). */
export function size(field: string, value: unknown): string {
	const text = String(value).trim();
	if (/^[1-9]\d*x[1-9]\d*$/.test(text)) return text;
	throw new InvalidInputError(
		`${field} "${text}" is not a width and a height`,
		'Write two whole numbers of pixels with an x between them, such as 1024x1024.',
	);
}

/** An aspect ratio, as `<width>:<height>` (spec 4.1). */
export function aspectRatio(field: string, value: unknown): string {
	const text = String(value).trim();
	if (/^[1-9]\d*:[1-9]\d*$/.test(text)) return text;
	throw new InvalidInputError(
		`${field} "${text}" is not a width to a height`,
		'Write two whole numbers with a colon between them, such as 16:9.',
	);
}

/** Returns the allowed value with the same text as the given one. */
export function oneOf<T>(field: string, value: unknown, allowed: readonly T[]): T {
	const found = allowed.find((candidate) => String(candidate) === String(value));
	if (found !== undefined) return found;
	throw new InvalidInputError(
		`${field} "${String(value)}" is not available`,
		`Choose one of ${allowed.join(', ')}.`,
	);
}

/**
 * The id of a generation. It becomes part of a path, where `.` and `..` would change the address. Other characters
 * are escaped later.
 */
export function generationId(field: string, value: unknown): string {
	const id = requiredText(field, value);
	if (!/^\.{1,2}$/.test(id)) return id;
	throw new InvalidInputError(
		`${field} "${id}" is not the id of a generation`,
		'Use the id that Image Generation or Video Generation handed on.',
	);
}

/** Detects the start of a second URL. A comma or a space alone may be part of the first. */
const BETWEEN_URLS = /[\s,][a-z][a-z\d+.-]{0,20}:\/\//i;

/**
 * A URL for the service to fetch: https (spec 4.1). Plain http is allowed for this machine only, for a local service.
 */
export function fetchableUrl(field: string, value: unknown): string {
	const text = requiredText(field, value);
	if (Array.isArray(value) ? value.length > 1 : BETWEEN_URLS.test(text)) {
		throw new InvalidInputError(
			`${field} holds several URLs`,
			'It takes one: choose which, such as {{ $json.urls[0] }}.',
		);
	}
	if (isFetchable(text)) return text;
	throw new InvalidInputError(
		`${field} "${shortened(text)}" is not an https:// URL`,
		'The service fetches reference inputs itself, over https only. A picture that is not on the web goes into Reference Inputs of Image Generation, from the source Binary Field.',
	);
}

/** A comma between two URLs. A comma inside a URL is not followed by whitespace, a comma, the end or a new URL. */
const COMMA_BETWEEN_URLS = /,(?=\s|,|$|[a-z][a-z\d+.-]{0,20}:\/\/)/i;

/** URLs as an array, or as a text with commas or line breaks between them. */
export function fetchableUrls(field: string, value: unknown): string[] {
	const parts: unknown[] = Array.isArray(value)
		? value
		: String(value)
				.split('\n')
				.flatMap((line) => line.split(COMMA_BETWEEN_URLS));
	return parts
		.filter((part) => String(part ?? '').trim() !== '')
		.map((part, index) => fetchableUrl(`${field} ${index + 1}`, part));
}

const DATA_URI_HEAD = /^data:[\w.+-]+\/[\w.+-]+(?:;[\w-]+=[^;,]+)*;base64,$/;

/** A base64 data URI of at most 4.5 MB decoded, returned without line breaks. */
export function dataUri(field: string, value: unknown): string {
	const text = requiredText(field, value);
	const start = text.indexOf(',') + 1;
	const head = text.slice(0, start);
	const encoded = text
		.slice(start)
		.replace(/\s/g, '')
		.replace(/={1,2}$/, '');
	// The data is searched for invalid characters. Matching megabytes with one pattern exhausts the stack.
	if (!DATA_URI_HEAD.test(head) || !isBase64(encoded)) {
		throw new InvalidInputError(
			`${field} is not a base64 data URI`,
			'It has to look like data:image/png;base64,iVBORw0… For a file of an earlier step choose the source Binary Field.',
		);
	}
	inlineSize(field, Math.floor((encoded.length * 3) / 4));
	return `${head}${encoded.padEnd(Math.ceil(encoded.length / 4) * 4, '=')}`;
}

/** @param encoded base64 without padding; one character beyond a multiple of four encodes no byte */
function isBase64(encoded: string): boolean {
	return encoded !== '' && encoded.length % 4 !== 1 && !/[^A-Za-z0-9+/]/.test(encoded);
}

/**
 * Checks the size of an inline input.
 *
 * @param bytes decoded size
 * @throws InvalidInputError if it is empty or too large
 */
export function inlineSize(field: string, bytes: number): void {
	if (bytes === 0) {
		throw new InvalidInputError(
			`${field} is an empty file`,
			'Check the step that makes the file: without it something else would be made, and paid for.',
		);
	}
	if (bytes <= MAX_INLINE_BYTES) return;
	// Rounded up, so that one byte too many does not read as the allowed size.
	const megabytes = (Math.ceil((bytes / 1024 / 1024) * 10) / 10).toFixed(1);
	throw new InvalidInputError(
		`${field} is too large: ${megabytes} MB`,
		'An inline input may hold 4.5 MB. Make the file smaller, or put it where the service can fetch it and choose the source URL.',
	);
}

function isFetchable(text: string): boolean {
	// The URL parser alone would accept malformed URLs, such as those with missing slashes.
	if (!/^https?:\/\/[^\s/\\]/i.test(text)) return false;
	try {
		const { protocol, hostname } = new URL(text);
		if (protocol === 'https:') return true;
		return protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
	} catch {
		return false;
	}
}

function shortened(text: string): string {
	return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
