import { randomBytes } from 'node:crypto';
import type { Response } from 'express';
import type { OAuthRegisteredClientsStore } from '@modelcontextprotocol/sdk/server/auth/clients.js';
import {
	InvalidGrantError,
	InvalidTokenError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { OAuthServerProvider } from '@modelcontextprotocol/sdk/server/auth/provider.js';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import type {
	OAuthClientInformationFull as Client,
	OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import type { Account } from '../accounts/accounts';
import type { ConnectedApp } from '../accounts/connected-apps';
import type { GenerationService } from '../service';
import type { AuthorizationRequest } from './authorization';
import { Grants, scope } from './grants';
import { returnTo } from './redirects';
import { acceptedClient } from './registration';

/** A sign-in that the user has to allow or deny. */
export interface SignInRequest {
	readonly client: Client;
	readonly params: AuthorizationRequest;
	readonly expiresAt: number;
}

/** Path of the page where the user allows or denies a sign-in. */
export const consentPath = '/sign-in';

const decisionSeconds = 600;

/** Returns an app's name on one line of at most 80 characters: its own name, or else the host of its redirect URI. */
export function titleOf({ client_name: name = '', redirect_uris: [address] }: Client): string {
	const line = name.replace(/[\p{C}\s]+/gu, ' ').trim() || new URL(address).host;
	return line.slice(0, 80);
}

/**
 * Handles sign-ins to the connector (spec 5.8). The official SDK exchanges codes and checks PKCE. This class makes the
 * decisions and stores the state.
 */
export class SignIn implements OAuthServerProvider {
	readonly clientsStore: OAuthRegisteredClientsStore;
	readonly grants: Grants;
	private readonly clients = new Map<string, Client>();
	private readonly requests = new Map<string, SignInRequest>();

	constructor(private readonly service: GenerationService) {
		this.grants = new Grants(service.clock, service.apps);
		this.clientsStore = {
			getClient: this.clientOf,
			registerClient: (registered) => {
				// The SDK has already assigned an id, but the type does not show it.
				const client = acceptedClient(registered as Client);
				this.clients.set(client.client_id, client);
				return client;
			},
		};
	}

	/** Returns the registered app with that ID. */
	readonly clientOf = (id: string): Client | undefined => this.clients.get(id);

	/** Redirects the user to the consent page. */
	async authorize(client: Client, params: AuthorizationRequest, res: Response): Promise<void> {
		const id = randomBytes(32).toString('base64url');
		const expiresAt = this.service.clock.now() + decisionSeconds * 1000;
		this.requests.set(id, { client, params, expiresAt });
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
		const { client, params } = request;
		this.requests.delete(id);
		if (account === null) {
			const error_description = 'The request to connect was denied.';
			return returnTo(params, { error: 'access_denied', error_description });
		}
		const { apps, clock } = this.service;
		const app = apps.connect(client.client_id, titleOf(client), account, clock.now());
		const { codeChallenge: challenge, redirectUri, resource } = params;
		const order = { app, resource: resource.href, challenge, redirectUri };
		return returnTo(params, { code: this.grants.issueCode(order) });
	}

	async challengeForAuthorizationCode(client: Client, code: string): Promise<string> {
		return this.grants.code(client.client_id, code).challenge;
	}

	async exchangeAuthorizationCode(
		{ client_id: clientId }: Client,
		text: string,
		_verifier?: string,
		redirectUri?: string,
	): Promise<OAuthTokens> {
		const code = this.grants.code(clientId, text);
		if (redirectUri !== undefined && redirectUri !== code.redirectUri) {
			throw new InvalidGrantError('redirect_uri is not the one that the code was sent to.');
		}
		return this.grants.redeem(clientId, text);
	}

	async exchangeRefreshToken({ client_id: clientId }: Client, text: string): Promise<OAuthTokens> {
		return this.grants.refresh(clientId, text);
	}

	/** Returns the app of an access token. Throws InvalidTokenError. */
	async verifyAccessToken(token: string): Promise<AuthInfo & { extra: { app: ConnectedApp } }> {
		const found = this.grants.access(token);
		if (!found) {
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
}
