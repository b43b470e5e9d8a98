import { randomBytes } from 'node:crypto';
import type { Response } from 'express';
import type { OAuthRegisteredClientsStore } from '@modelcontextprotocol/sdk/server/auth/clients.js';
import {
	InvalidGrantError,
	InvalidTargetError,
	InvalidTokenError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type {
	AuthorizationParams,
	OAuthServerProvider,
} from '@modelcontextprotocol/sdk/server/auth/provider.js';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import type {
	OAuthClientInformationFull as Client,
	OAuthTokenRevocationRequest,
	OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import type { Account } from '../accounts/accounts';
import type { ConnectedApp } from '../accounts/connected-apps';
import type { GenerationService } from '../service';
import { Grants, scope } from './grants';
import { assertRedirectUris, destinationOf } from './redirects';

/** A sign-in that the user has to allow or deny. */
export interface SignInRequest {
	readonly client: Client;
	readonly params: AuthorizationParams;
	readonly resource: string;
	readonly expiresAt: number;
}

/** Path of the page where the user allows or denies a sign-in. */
export const consentPath = '/sign-in';

const decisionSeconds = 600;

/** Returns an app's name on one line of at most 80 characters: its own name, or else the target of its redirect URI. */
export function titleOf({ client_name: name = '', redirect_uris: [address] }: Client): string {
	const line = name.replace(/[\p{C}\s]+/gu, ' ').trim() || destinationOf(address).text;
	return line.slice(0, 80);
}

/**
 * Handles sign-ins to the connector (spec 5.8). The official SDK implements OAuth and checks clients, redirect URIs and
 * PKCE. This class makes the decisions and stores the state.
 */
export class SignIn implements OAuthServerProvider {
	readonly clientsStore: OAuthRegisteredClientsStore;
	readonly grants: Grants;
	private readonly clients = new Map<string, Client>();
	private readonly requests = new Map<string, SignInRequest>();

	/**
	 * @param connector URL of the connector, which tokens are valid for
	 * @param accessSeconds lifetime of an access token
	 */
	constructor(
		private readonly service: GenerationService,
		readonly connector: () => URL,
		accessSeconds: number,
	) {
		this.grants = new Grants(service.clock, service.apps, accessSeconds);
		this.clientsStore = {
			getClient: (id) => this.clients.get(id),
			registerClient: (registered) => {
				// The SDK has already assigned an id, but the type does not show it.
				const client = registered as Client;
				assertRedirectUris(client.redirect_uris);
				this.clients.set(client.client_id, client);
				return client;
			},
		};
	}

	/** Redirects the user to the consent page. Throws InvalidTargetError if the request is for another resource. */
	async authorize(client: Client, params: AuthorizationParams, res: Response): Promise<void> {
		const resource = this.assertResource(params.resource);
		const id = randomBytes(32).toString('base64url');
		const expiresAt = this.service.clock.now() + decisionSeconds * 1000;
		this.requests.set(id, { client, params, resource, expiresAt });
		res.redirect(302, `${consentPath}?request=${id}`);
	}

	/** Returns the sign-in request, or null if it was already answered or has expired. */
	request(id: string): SignInRequest | null {
		const request = this.requests.get(id);
		return request && request.expiresAt > this.service.clock.now() ? request : null;
	}

	/**
	 * Handles the user's answer, and returns the URL to redirect them to.
	 *
	 * @param account the account that the app may act for, or null if denied
	 */
	decide(id: string, request: SignInRequest, account: Account | null): string {
		const { client, params, resource } = request;
		const back = new URL(params.redirectUri);
		if (params.state !== undefined) back.searchParams.set('state', params.state);
		if (account === null) {
			back.searchParams.set('error', 'access_denied');
			back.searchParams.set('error_description', 'The request to connect was denied.');
		} else {
			const { apps, clock } = this.service;
			const app = apps.connect(client.client_id, titleOf(client), account, clock.now());
			const { codeChallenge: challenge, redirectUri } = params;
			const code = this.grants.issueCode({ app, resource, challenge, redirectUri });
			back.searchParams.set('code', code);
		}
		this.requests.delete(id);
		return back.href;
	}

	async challengeForAuthorizationCode(client: Client, code: string): Promise<string> {
		return this.grants.code(client.client_id, code).challenge;
	}

	async exchangeAuthorizationCode(
		{ client_id: clientId }: Client,
		text: string,
		_verifier?: string,
		redirectUri?: string,
		resource?: URL,
	): Promise<OAuthTokens> {
		const code = this.grants.code(clientId, text);
		if (redirectUri !== code.redirectUri) {
			throw new InvalidGrantError('redirect_uri is not the one that the code was sent to.');
		}
		this.assertResource(resource);
		return this.grants.redeem(clientId, text);
	}

	async exchangeRefreshToken(
		{ client_id: clientId }: Client,
		text: string,
		_scopes?: string[],
		resource?: URL,
	): Promise<OAuthTokens> {
		this.assertResource(resource);
		return this.grants.refresh(clientId, text);
	}

	/** Returns the app of an access token. Throws InvalidTokenError. */
	async verifyAccessToken(token: string): Promise<AuthInfo & { extra: { app: ConnectedApp } }> {
		const found = this.grants.access(token);
		if (!found || found.grant.resource !== this.connector().href) {
			throw new InvalidTokenError('The access token is unknown, expired or revoked.');
		}
		const { app, resource } = found.grant;
		return {
			token,
			clientId: app.clientId,
			scopes: [scope],
			expiresAt: Math.floor(found.expiresAt / 1000),
			resource: new URL(resource),
			extra: { app },
		};
	}

	async revokeToken(client: Client, { token }: OAuthTokenRevocationRequest): Promise<void> {
		this.grants.revoke(client.client_id, token);
	}

	/**
	 * Tokens are valid for the connector only, whether or not the client names a resource (RFC 8707). Throws
	 * InvalidTargetError.
	 */
	private assertResource(asked: URL | undefined): string {
		const { href } = this.connector();
		if (asked && asked.href !== href) {
			throw new InvalidTargetError(`There are tokens for ${href} only.`);
		}
		return href;
	}
}
