import { GenerationError } from './errors';

/**
 * Returns the address to which paths such as `/v1/models` are appended. Requests and the credential's test both use
 * it.
 *
 * @param typed the Base URL of the credential; surrounding whitespace, trailing slashes and a trailing `/v1` are
 * ignored
 * @throws GenerationError with the code `invalid_base_url` for anything but a plain http or https address
 */
export function serviceAddress(typed: unknown): string {
	const text = String(typed ?? '').trim();
	if (text === '') throw invalidBaseUrl('is empty');
	if (!/^https?:\/\//i.test(text)) throw invalidBaseUrl('must start with https:// or http://');
	const url = parsed(text);
	// URL parsers silently drop line breaks and tabs.
	if (url === null || /\s/.test(text)) throw invalidBaseUrl('is not a valid web address');
	// n8n would send these instead of the API key.
	if (url.username || url.password)
		throw invalidBaseUrl('must not contain a user name or password');
	if (/[?#]/.test(text)) throw invalidBaseUrl('must not contain ? or #');
	const path = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
	return `${url.origin}${path.replace(/\/+$/, '')}`;
}

function parsed(text: string): URL | null {
	try {
		return new URL(text);
	} catch {
		return null;
	}
}

/** @param reason what is wrong with the Base URL; never the URL itself, which may contain a password */
export function invalidBaseUrl(reason: string): GenerationError {
	return new GenerationError({
		title: `The Base URL in the credential ${reason}`,
		description:
			'No request was sent. Open the Media Generation API credential and enter the address of the service, such as https://api.example.com.',
		code: 'invalid_base_url',
		stopsSubmitting: true,
	});
}
