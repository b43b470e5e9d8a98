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
	/** If true, the request for tokens must repeat the redirect URI (RFC 6749, 4.1.3). */
	readonly redirectUriSent: boolean;
}

/** The app that asks for a code, and where the browser returns to. */
interface Destination {
	readonly client: Client;
	readonly redirectUri: string;
	readonly redirectUriSent: boolean;
	/** Returned to the app with a code, and with an error. */
	readonly state: string | undefined;
}

function only(parameters: URLSearchParams, name: string): string | undefined {
	const values = parameters.getAll(name);
	if (values.length > 1) throw new InvalidRequestError(`${name} was sent more than once.`);
	return values[0];
}

/** Returns the destination of a request. Throws an OAuthError that must not be sent there. */
export function destinationIn(
	parameters: URLSearchParams,
	clientOf: (id: string) => Client | undefined,
): Destination {
	const id = only(parameters, 'client_id');
	if (id === undefined) throw new InvalidRequestError('client_id is missing.');
	const client = clientOf(id);
	if (!client) throw new InvalidClientError('The app is not registered.');
	const sent = only(parameters, 'redirect_uri');
	const { redirect_uris: registered } = client;
	const redirectUri = sent ?? (registered.length === 1 ? registered[0] : undefined);
	if (redirectUri === undefined) {
		throw new InvalidRequestError('redirect_uri is needed, because several are registered.');
	}
	if (!registered.some((address) => redirectUriMatches(redirectUri, address))) {
		throw new InvalidRequestError('redirect_uri is not registered.');
	}
	const state = parameters.get('state') ?? undefined;
	return { client, redirectUri, redirectUriSent: sent !== undefined, state };
}

function resourceIn(parameters: URLSearchParams, host: string | undefined): URL {
	const asked = only(parameters, 'resource');
	return asked === undefined ? connectorAt(host) : ownResource(asked, host);
}

/** Returns the resource that tokens are asked for (RFC 8707). Throws InvalidTargetError if it is not the connector. */
export function ownResource(asked: string, host: string | undefined): URL {
	if (URL.canParse(asked) && isConnector(new URL(asked), host)) return new URL(asked);
	throw new InvalidTargetError(`There are tokens for ${connectorAt(host).href} only.`);
}

/** Returns a valid request for a code. Throws an OAuthError for the app (RFC 6749, 4.1.2.1). */
export function authorizationIn(
	parameters: URLSearchParams,
	{ redirectUri, redirectUriSent, state }: Destination,
	host: string | undefined,
): AuthorizationRequest {
	only(parameters, 'state');
	const type = only(parameters, 'response_type');
	if (type === undefined) throw new InvalidRequestError('response_type is missing.');
	if (type !== responseType) {
		throw new UnsupportedResponseTypeError(`response_type must be ${responseType}.`);
	}
	const codeChallenge = only(parameters, 'code_challenge');
	if (only(parameters, 'code_challenge_method') !== 'S256') {
		throw new InvalidRequestError('code_challenge_method must be S256.');
	}
	if (!/^[\w.~-]{43,128}$/.test(codeChallenge ?? '')) {
		throw new InvalidRequestError('code_challenge must be a PKCE challenge of RFC 7636.');
	}
	// There is one scope only, so what is asked for makes no difference.
	const scopes = only(parameters, 'scope')?.split(' ') ?? [];
	const resource = resourceIn(parameters, host);
	return {
		state,
		scopes,
		redirectUri,
		redirectUriSent,
		resource,
		codeChallenge: codeChallenge ?? '',
	};
}
