import { InvalidClientMetadataError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { OAuthClientInformationFull as Client } from '@modelcontextprotocol/sdk/shared/auth.js';
import { assertRedirectUris } from './redirects';

/** The grants that every app gets. */
export const grantTypes = ['authorization_code', 'refresh_token'];

/** The only response type. */
export const responseType = 'code';

function assertIncludes(name: string, values: readonly string[] | undefined, needed: string): void {
	if (!values || values.includes(needed)) return;
	throw new InvalidClientMetadataError(`${name} must include ${needed}.`);
}

/**
 * Returns a registration with everything that applies to the app, as RFC 7591, 3.2.1 requires. The SDK has already
 * assigned an ID. Throws InvalidClientMetadataError for what the sandbox cannot do.
 */
export function acceptedClient(client: Client): Client {
	const { grant_types, response_types } = client;
	assertIncludes('grant_types', grant_types, grantTypes[0]);
	assertIncludes('response_types', response_types, responseType);
	assertRedirectUris(client.redirect_uris);
	return { ...client, grant_types: grantTypes, response_types: [responseType] };
}
