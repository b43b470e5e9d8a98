import { GenerationError } from '../../../client/api/errors';
import { sentences } from '../../../client/text';

export const CREDENTIAL = 'mediaGenerationApi';

/**
 * Returns the Base URL that the user typed, without blanks around it, trailing slashes and a trailing `/v1`. Callers append
 * paths such as `/v1/models`. Throws GenerationError `invalid_base_url` for anything but a plain http or https address.
 */
export function serviceAddress(typed: unknown): string {
	const text = String(typed ?? '').trim();
	if (text === '') throw invalidBaseUrl('is empty');
	if (!/^https?:\/\//i.test(text)) throw invalidBaseUrl('must start with https:// or http://');
	// URL parsers silently drop line breaks and tabs, so `canParse` accepts them.
	if (!URL.canParse(text) || /\s/.test(text)) throw invalidBaseUrl('is not a valid web address');
	const url = new URL(text);
	// n8n would send a user name and password from the URL instead of the API key.
	if (url.username || url.password)
		throw invalidBaseUrl('must not contain a user name or password');
	if (/[?#]/.test(text)) throw invalidBaseUrl('must not contain ? or #');
	const path = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
	return `${url.origin}${path.replace(/\/+$/, '')}`;
}

/**
 * Returns the API key to send, without a copied `Bearer`, blanks and invisible characters. n8n would drop some of these
 * characters on sending. `parsedBody`, which removes the key from responses, would then search for the wrong text.
 */
export function apiKeyOf(typed: unknown): string {
	return String(typed ?? '')
		.replace(/^[^!-~]*Bearer[^!-~]+/i, '')
		.replace(/[^!-~]/g, '');
}

/** @param reason what is wrong with the Base URL; never the URL itself, which may contain a password */
function invalidBaseUrl(reason: string): GenerationError {
	return new GenerationError({
		title: `The Base URL in the credential ${reason}`,
		details: 'No request was sent',
		description:
			'Open the Media Generation API credential and enter the address of the service, such as https://api.example.com.',
		code: 'invalid_base_url',
		fatalForStep: true,
	});
}

/** Matches n8n's messages for a missing credential: never chosen, deleted, or encrypted with another key. */
const NO_CREDENTIAL =
	/not have any credentials|with no ID|with ID .+ does not exist|not be decrypted/;

/**
 * Builds the error for a request that was not sent, because its credential could not be read. `cause`: n8n's error, or an
 * AbortError if the request was aborted first. A GenerationError, such as `invalid_base_url`, is returned unchanged.
 */
export function unreadableCredential(cause: unknown): GenerationError {
	if (cause instanceof GenerationError) return cause;
	const message = cause instanceof Error && cause.name !== 'AbortError' ? cause.message : null;
	const missing = message !== null && NO_CREDENTIAL.test(message);
	return new GenerationError({
		title: missing ? 'The node has no credential' : 'The credential could not be read',
		details: sentences('No request was sent', message && `n8n says: ${message}`),
		description: missing
			? 'Choose a Media Generation API credential in the node, or create one.'
			: 'Check that n8n can read its credentials, and that this one still exists.',
		code: missing ? 'credential_missing' : 'credential_unreadable',
		retry: missing ? 'never' : 'backoff',
	});
}
