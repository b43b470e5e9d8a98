import { InvalidInputError, invalid, requiredText } from './checks';

/** Checks of URLs that the service fetches. Each throws `InvalidInputError` with the field's name in it. */

/** The start of a URL. Whitespace or a comma before it separates two URLs; alone, either may be part of a URL. */
const URL_START = '[a-z][a-z\\d+.-]{0,20}://';
const BETWEEN_URLS = new RegExp(`[\\s,]${URL_START}`, 'i');
const COMMA_BETWEEN_URLS = new RegExp(`,(?=\\s|,|$|${URL_START})`, 'i');

const UPLOAD_FIRST = 'Upload a file first, for example with an S3 node, and enter its URL.';

/**
 * A URL in an image request, which the service fetches: https (spec 4.1). Plain http is allowed for this machine only,
 * for a local service.
 *
 * @param forFiles advice for a file that is not on the web
 */
export function fetchableUrl(field: string, value: unknown, forFiles = UPLOAD_FIRST): string {
	const text = singleUrl(field, value);
	if (isWebUrl(text) && (isHttps(text) || isLocal(text))) return text;
	const advice = `The service fetches this URL itself, over https only. ${forFiles}`;
	throw invalid(field, 'an https:// URL', text, advice);
}

/** A URL of an image in a video request, which the service fetches: https or http (spec 4.2). */
export function webUrl(field: string, value: unknown): string {
	const text = singleUrl(field, value);
	if (isWebUrl(text)) return text;
	const advice = `The service fetches this URL itself. ${UPLOAD_FIRST}`;
	throw invalid(field, 'an https:// or http:// URL', text, advice);
}

/**
 * URLs as an array, or as a text with commas or line breaks between them.
 *
 * @param check reads each of them
 */
export function urlList(
	field: string,
	value: unknown,
	check: (field: string, value: unknown) => string,
): string[] {
	const parts: unknown[] = Array.isArray(value)
		? value
		: String(value)
				.split('\n')
				.flatMap((line) => line.split(COMMA_BETWEEN_URLS));
	return parts
		.filter((part) => String(part ?? '').trim() !== '')
		.map((part, index) => check(`${field} ${index + 1}`, part));
}

function singleUrl(field: string, value: unknown): string {
	const text = requiredText(field, value);
	if (Array.isArray(value) ? value.length <= 1 : !BETWEEN_URLS.test(text)) return text;
	throw new InvalidInputError(
		`${field} contains several URLs`,
		'Choose one of them, such as {{ $json.urls[0] }}.',
	);
}

function isWebUrl(text: string): boolean {
	// The URL parser alone would accept malformed URLs, such as those with missing slashes.
	return /^https?:\/\/[^\s/\\]/i.test(text) && URL.canParse(text);
}

function isHttps(text: string): boolean {
	return new URL(text).protocol === 'https:';
}

function isLocal(text: string): boolean {
	return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(text).hostname);
}
