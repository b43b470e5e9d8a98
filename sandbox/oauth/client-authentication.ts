import {
	InvalidClientError,
	InvalidRequestError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { OAuthClientInformationFull as Client } from '@modelcontextprotocol/sdk/shared/auth.js';

interface Credentials {
	client_id: string;
	client_secret: string;
}

/** Thrown if the app has used the header. The response is then a 401 that names the scheme (RFC 6749, 5.2). */
export class BasicAuthenticationError extends InvalidClientError {}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text.replaceAll('+', ' '));
	} catch {
		throw new BasicAuthenticationError('The Authorization header is not encoded correctly.');
	}
}

/** Reads a Basic header. Both parts are encoded as in a form (RFC 6749, 2.3.1). */
function basicCredentials(authorization: string): Credentials {
	const [, base64 = ''] = /^Basic +([\w+/]+={0,2}) *$/i.exec(authorization) ?? [];
	const [, id, secret] = /^([^:]+):(.*)$/s.exec(Buffer.from(base64, 'base64').toString()) ?? [];
	if (id === undefined) {
		throw new BasicAuthenticationError(
			'The Authorization header must be Basic, with ID and secret.',
		);
	}
	return { client_id: decoded(id), client_secret: decoded(secret) };
}

/**
 * Authenticates the app of a request to the token or the revocation endpoint by its header, and returns the fields of the
 * request as if the credentials were in its body. Without such a header, returns the fields unchanged. Throws an
 * OAuthError.
 */
export function withCredentials(
	fields: Readonly<Record<string, string>>,
	authorization: string | undefined,
	clientOf: (id: string) => Client | undefined,
): Record<string, string> {
	if (authorization === undefined) return fields;
	// A header of another kind does not authenticate an app that is named in the body.
	if (fields.client_id !== undefined && !/^Basic /i.test(authorization)) return fields;
	const credentials = basicCredentials(authorization);
	if (fields.client_secret !== undefined) {
		throw new InvalidRequestError('The secret is in the header and in the body. Send it once.');
	}
	if ((fields.client_id ?? credentials.client_id) !== credentials.client_id) {
		throw new InvalidRequestError('client_id is not the one in the header.');
	}
	const client = clientOf(credentials.client_id);
	if (!client) throw new BasicAuthenticationError('The app is not registered.');
	if (client.client_secret && client.client_secret !== credentials.client_secret) {
		throw new BasicAuthenticationError('The secret is wrong.');
	}
	return { ...fields, ...credentials };
}
