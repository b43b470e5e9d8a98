import { redirectUriMatches } from '@modelcontextprotocol/sdk/server/auth/handlers/authorize.js';
import {
	InvalidClientError,
	InvalidRequestError,
	InvalidTargetError,
	UnsupportedResponseTypeError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { AuthorizationParams } from '@modelcontextprotocol/sdk/server/auth/provider.js';
import type { OAuthClientInformationFull as Client } from '@modelcontextprotocol/sdk/shared/auth.js';
import { connectorAt, isConnector } from './connector';
import { responseType } from './registration';

/** A valid request for a code. */
export interface AuthorizationRequest extends AuthorizationParams {
	readonly resource: URL;
}

/** The app that asks for a code, and where the browser returns to. */
interface Destination {
	readonly client: Client;
	readonly redirectUri: string;
	/** Returned to the app with a code, and with an error. */
	readonly state: string | undefined;
}

/** Returns the destination of a request. Throws an OAuthError that must not be sent there. */
export function destinationIn(
	parameters: URLSearchParams,
	clientOf: (id: string) => Client | undefined,
): Destination {
	const client = clientOf(parameters.get('client_id') ?? '');
	if (!client) throw new InvalidClientError('The app is not registered.');
	const { redirect_uris: registered } = client;
	const redirectUri =
		parameters.get('redirect_uri') ?? (registered.length === 1 ? registered[0] : undefined);
	if (redirectUri === undefined) {
		throw new InvalidRequestError('redirect_uri is needed, because several are registered.');
	}
	if (!registered.some((address) => redirectUriMatches(redirectUri, address))) {
		throw new InvalidRequestError('redirect_uri is not registered.');
	}
	const state = parameters.get('state') ?? undefined;
	return { client, redirectUri, state };
}

/** Returns the resource that tokens are asked for (RFC 8707). Throws InvalidTargetError if it is not the connector. */
export function ownResource(asked: string, host: string | undefined): URL {
	if (URL.canParse(asked) && isConnector(new URL(asked), host)) return new URL(asked);
	throw new InvalidTargetError(`There are tokens for ${connectorAt(host).href} only.`);
}

/** Returns a valid request for a code. Throws an OAuthError for the app (RFC 6749, 4.1.2.1). */
export function authorizationIn(
	parameters: URLSearchParams,
	{ redirectUri, state }: Destination,
	host: string | undefined,
): AuthorizationRequest {
	const type = parameters.get('response_type');
	if (type === null) throw new InvalidRequestError('response_type is missing.');
	if (type !== responseType) {
		throw new UnsupportedResponseTypeError(`response_type must be ${responseType}.`);
	}
	const codeChallenge = parameters.get('code_challenge') ?? '';
	if (parameters.get('code_challenge_method') !== 'S256') {
		throw new InvalidRequestError('code_challenge_method must be S256.');
	}
	if (!/^[\w.~-]{43,128}$/.test(codeChallenge)) {
		throw new InvalidRequestError('code_challenge must be a PKCE challenge of RFC 7636.');
	}
	// There is one scope only, so what is asked for makes no difference.
	const scopes = parameters.get('scope')?.split(' ') ?? [];
	const asked = parameters.get('resource');
	const resource = asked === null ? connectorAt(host) : ownResource(asked, host);
	return { state, scopes, redirectUri, resource, codeChallenge };
}
