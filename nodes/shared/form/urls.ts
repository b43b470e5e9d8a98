import { invalid, requiredText } from './checks';

/** Checks of URLs that the service fetches. Each throws `InvalidInputError` with the field's name in it. */

const UPLOAD_FIRST = 'Upload a file first, for example with an S3 node, and enter its URL.';

/**
 * A URL in an image request: https (spec 4.1). Plain http is allowed only for localhost, so that a local service works.
 * `forFiles`: advice for a file that is not on the web.
 */
export function fetchableUrl(field: string, value: unknown, forFiles = UPLOAD_FIRST): string {
	const text = requiredText(field, value);
	const { protocol, hostname } = webAddress(text) ?? {};
	const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname ?? '');
	if (protocol === 'https:' || isLocal) return text;
	const advice = `The service fetches this URL itself, over https only. ${forFiles}`;
	throw invalid(field, 'an https:// URL', text, advice);
}

/** A URL of an image in a video request: https or http (spec 4.2). */
export function webUrl(field: string, value: unknown): string {
	const text = requiredText(field, value);
	if (webAddress(text)) return text;
	const advice = `The service fetches this URL itself. ${UPLOAD_FIRST}`;
	throw invalid(field, 'an https:// or http:// URL', text, advice);
}

/** Line breaks, and commas before a space, another comma, a URL or the end. Any other comma may be part of a URL. */
const BETWEEN_URLS = /\n|,(?=\s|,|$|[a-z][a-z\d+.-]{0,20}:\/\/)/i;

/** URLs as an array, or as a text with commas or line breaks between them. `check` validates each URL. */
export function urlList(field: string, value: unknown, check: typeof webUrl): string[] {
	const parts: unknown[] = Array.isArray(value) ? value : String(value).split(BETWEEN_URLS);
	return parts
		.filter((part) => String(part ?? '').trim() !== '')
		.map((part, index) => check(`${field} ${index + 1}`, part));
}

/** Parses a URL; `null` if malformed. `URL` would repair missing slashes and line breaks, so the pattern rejects those. */
function webAddress(text: string): URL | null {
	return /^https?:\/\/[^\s/\\][^\r\n\t]*$/i.test(text) && URL.canParse(text) ? new URL(text) : null;
}
