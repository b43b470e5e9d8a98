import { GenerationError, inTitle } from '../../../client/api/errors';
import { truncate } from '../../../client/text';

/**
 * Checks of user input, before anything is sent or charged. Each returns the value as it is sent, or throws
 * `InvalidInputError` with the field's name in it.
 */

/** Invalid input, found before anything was sent or charged. */
export class InvalidInputError extends GenerationError {
	static {
		this.prototype.name = 'InvalidInputError';
	}

	constructor(title: string, description: string) {
		super({ title, description, code: 'invalid_input' });
	}
}

/** Maximum decoded size, in bytes, of a file that is sent within the request as base64 (spec 8: about 4.5 MB). */
export const MAX_INLINE_BYTES = 4.5 * 1024 * 1024;

/** The error for an expression that is undefined: its path is mistyped, or the item lacks the field. */
export function undefinedExpression(field: string, required = false): InvalidInputError {
	const empty = ` To leave ${field} empty for some items, return an empty string, such as {{ $json.name ?? '' }}.`;
	return new InvalidInputError(
		`The expression in ${field} is undefined for this item`,
		`Check the names in the expression.${required ? '' : empty}`,
	);
}

function notText(field: string, returned: unknown): InvalidInputError {
	return new InvalidInputError(
		`${field} must be a single value, such as text, but the expression returned ${String(returned)}`,
		'Choose one of its fields in the expression, such as {{ $json.text }} instead of {{ $json }}.',
	);
}

/** The error for a value that is not allowed. `expected` completes "must be", such as "a number above 0". */
export function invalid(
	field: string,
	expected: string,
	value: unknown,
	advice = `Change ${field}.`,
) {
	const shown = truncate(String(value), 80);
	return new InvalidInputError(`${field} must be ${expected}, not "${shown}"`, advice);
}

/** The error for input that n8n could not read. Its title has n8n's reason, if that is short. */
export function unreadInput(title: string, cause: unknown, advice: string): InvalidInputError {
	const reason = cause instanceof Error ? inTitle(cause.message) : null;
	return new InvalidInputError(reason === null ? title : `${title}: ${reason}`, advice);
}

/** Matches the text that JavaScript puts in the place of an object, a function or an invalid date in a template. */
const NOT_TEXT =
	/^Invalid Date$|Invalid DateTime|\[object \w+\]|function \w*\(\) \{\s*\[native code\]\s*\}/;

/**
 * Returns the result of an expression as text, number, boolean, `null` or a list of these. A date becomes text.
 * Throws InvalidInputError for any other object, and for an undefined value.
 */
export function toPlainValue(field: string, value: unknown): unknown {
	if (value === undefined || Number.isNaN(value)) throw undefinedExpression(field);
	if (Array.isArray(value)) return value.map((part) => toPlainValue(field, part));
	if (typeof value === 'object' && value !== null) {
		const { toJSON } = value as { toJSON?: unknown };
		const plain: unknown = typeof toJSON === 'function' ? toJSON.call(value) : value;
		if (typeof plain === 'string') return plain;
		throw notText(field, 'an object');
	}
	const [code] = (typeof value === 'string' && NOT_TEXT.exec(value)) || [];
	if (code !== undefined) throw notText(field, `text that contains ${code}`);
	return value;
}

/** True for any object but an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a text or number as text, without blanks around it. Throws InvalidInputError if the text is empty. */
export function requiredText(field: string, value: unknown): string {
	const text = String(toPlainValue(field, value ?? null) ?? '').trim();
	if (text !== '') return text;
	throw new InvalidInputError(
		`${field} is empty`,
		`Fill in ${field}. If it is an expression, check that it has a value for this item.`,
	);
}

/** A size in pixels, as `<width>x<height>` (spec 4.1). `1024 × 1024`, as people and agents may write it, is valid, too. */
export function size(field: string, value: unknown): string {
	const written = String(value).replace(/\s*[x×]\s*/iu, 'x');
	return matching(field, written, /^[1-9]\d*x[1-9]\d*$/, 'a width and a height such as 1024x1024');
}

/** An aspect ratio, as `<width>:<height>` (spec 4.1). */
export function aspectRatio(field: string, value: unknown): string {
	return matching(field, value, /^[1-9]\d*:[1-9]\d*$/, 'a ratio of whole numbers such as 16:9');
}

/** Non-empty text in Unicode's form NFC, so that equal texts match: a letter with an accent has several encodings. */
export function normalizedText(field: string, value: unknown): string {
	return requiredText(field, value).normalize();
}

/** Rejects a key such as `sku-undefined`, in which a value is missing. Next to a blank, `undefined` may be a real word. */
export function idempotencyKey(field: string, value: unknown): string {
	const key = normalizedText(field, value);
	if (!/(?<!\s)(undefined|invalid date)(?!\s)/i.test(key)) return key;
	const advice =
		'Check the names in the expression. Items with the same idempotency key share one generation.';
	throw invalid(field, 'made of values that each item has', key, advice);
}

/** Returns the texts of an array or of a comma-separated text, without duplicates and empty texts. */
export function textList(field: string, value: unknown): string[] {
	const parts: unknown[] = Array.isArray(value) ? value : requiredText(field, value).split(',');
	const filled = parts.filter((part) => String(part ?? '').trim() !== '');
	return [...new Set(filled.map((part) => requiredText(field, part)))];
}

function matching(field: string, value: unknown, pattern: RegExp, expected: string): string {
	const text = String(value).trim();
	if (pattern.test(text)) return text;
	throw invalid(field, expected, text);
}

/** Builds a check for a number, which may be written as text. `expected` completes "must be" in the error. */
function numeric(expected: string, isValid: (read: number) => boolean) {
	return (field: string, value: unknown): number => {
		const isText = typeof value === 'string' && value.trim() !== '';
		const read = typeof value === 'number' || isText ? Number(value) : NaN;
		if (isValid(read)) return read;
		throw invalid(field, expected, value);
	};
}

export const integer = numeric('a whole number', Number.isSafeInteger);
export const number = numeric('a number', Number.isFinite);
export const positive = numeric('a number above 0', (read) => Number.isFinite(read) && read > 0);

/** Builds a check for a whole number from `least` to `most`. */
export function integerWithin(least: number, most: number) {
	const isWithin = (read: number) => Number.isInteger(read) && read >= least && read <= most;
	return numeric(`a whole number from ${least} to ${most}`, isWithin);
}

/** A video's length in seconds; 0 becomes `null`: the model decides. The maximum, which varies by model, is not checked. */
export function duration(field: string, value: unknown): number | null {
	const seconds = number(field, value);
	return seconds === 0 ? null : positive(field, seconds);
}

/** Returns the allowed value whose text equals that of `value`, such as the number 24 for the text `24`. */
export function oneOf<T>(field: string, value: unknown, allowed: readonly T[]): T {
	const found = allowed.find((candidate) => String(candidate) === String(value));
	if (found !== undefined) return found;
	throw invalid(field, `one of ${allowed.join(', ')}`, value);
}

/** The id of a generation, at most 500 characters. `.` and `..` are rejected, because a URL resolves them in its path. */
export function generationId(field: string, value: unknown): string {
	const id = requiredText(field, value);
	// Rejects the URL of an output, and half of a Unicode character (a lone surrogate), which cannot be encoded in a URL.
	if (id.length <= 500 && !/^\.{1,2}$|:\/\/|\p{Cs}/u.test(id)) return id;
	const advice = 'Use the ID from the output of Image Generation or Video Generation.';
	throw invalid(field, 'the ID of a generation', id, advice);
}

/** A base64 data URI of at most 4.5 MB decoded, returned without line breaks. */
export function dataUri(field: string, value: unknown): string {
	const uri = requiredText(field, value).replace(/\s/g, '');
	const [, data] = /^data:[\w.+-]+\/[^,]+;base64,(.+)$/i.exec(uri) ?? [];
	if (data === undefined) {
		const advice = 'For a file of an earlier step, choose the source Binary Field.';
		throw invalid(field, 'a data URI such as data:image/png;base64,iVBORw0…', uri, advice);
	}
	inlineSize(field, Buffer.byteLength(data, 'base64'));
	return uri;
}

/** Checks the decoded size of an inline input. Throws InvalidInputError if it is 0 or above 4.5 MB. */
export function inlineSize(field: string, bytes: number): void {
	if (bytes === 0) {
		throw new InvalidInputError(
			`${field} is an empty file`,
			'Check the node that creates the file.',
		);
	}
	if (bytes <= MAX_INLINE_BYTES) return;
	// Rounded up: a file with one byte too many would otherwise be reported as 4.5 MB, which is allowed.
	const megabytes = (Math.ceil((bytes / 1024 / 1024) * 10) / 10).toFixed(1);
	throw new InvalidInputError(
		`${field} is too large: ${megabytes} MB, and at most 4.5 MB are allowed`,
		'Use a smaller file, or put it into a binary field and set Source to Binary Field.',
	);
}
