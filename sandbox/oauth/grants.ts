import { randomBytes } from 'node:crypto';
import { InvalidGrantError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { ConnectedApp, ConnectedApps } from '../accounts/connected-apps';
import type { Clock } from '../basics/clock';

/** What a person has allowed: an app may use one resource for an account. */
export interface Grant {
	readonly app: ConnectedApp;
	/** Address of the resource that its tokens are for (RFC 8707). */
	readonly resource: string;
}

/** What a code is bound to. */
export interface CodeOrder extends Grant {
	/** The PKCE challenge, of the method S256. */
	readonly challenge: string;
	readonly redirectUri: string;
}

/** A grant in use. */
interface LiveGrant extends Grant {
	ended: boolean;
}

interface Code extends CodeOrder {
	readonly expiresAt: number;
	/** What came of it, once it was used. */
	grant: LiveGrant | null;
}

interface RefreshToken {
	readonly grant: LiveGrant;
	/** When it was first used; milliseconds since 1970. */
	usedAt: number | null;
}

export interface AccessToken {
	readonly grant: Grant;
	/** Milliseconds since 1970. */
	expiresAt: number;
}

/** The only scope: to use the connector. */
export const scope = 'mcp';

const codeSeconds = 60;

/**
 * How long a refresh token that was used is good once more. Clients refresh for two requests at once,
 * the SDK's own among them: without this the second one would end the grant.
 */
const refreshLeewaySeconds = 30;

function opaque(): string {
	return randomBytes(32).toString('base64url');
}

/** Codes and tokens. They say nothing by themselves: what they stand for is here, in memory. */
export class Grants {
	private readonly codes = new Map<string, Code>();
	private readonly accessTokens = new Map<string, AccessToken & { grant: LiveGrant }>();
	private readonly refreshTokens = new Map<string, RefreshToken>();

	constructor(
		private readonly clock: Clock,
		private readonly apps: ConnectedApps,
		private readonly accessSeconds: number,
	) {}

	/** A code that is good once, for a minute. */
	issueCode(order: CodeOrder): string {
		const text = opaque();
		const expiresAt = this.clock.now() + codeSeconds * 1000;
		this.codes.set(text, { ...order, expiresAt, grant: null });
		return text;
	}

	/**
	 * What a code is bound to. Throws InvalidGrantError for one that is not this client's or no longer
	 * good; a code that comes back was stolen from one of two, so that what came of it ends (RFC 6749, 4.1.2).
	 */
	code(clientId: string, text: string): CodeOrder {
		return this.findCode(clientId, text);
	}

	/** Tokens for a code, which is used up by it. Throws InvalidGrantError. */
	redeem(clientId: string, text: string): OAuthTokens {
		const code = this.findCode(clientId, text);
		const { app, resource } = code;
		code.grant = { app, resource, ended: false };
		return this.issueTokens(code.grant);
	}

	/**
	 * Exchanges a refresh token for new tokens. It is valid once. A second use means that it was stolen, and revokes the
	 * grant.
	 *
	 * @throws InvalidGrantError if it is not valid for this client
	 */
	refresh(clientId: string, text: string): OAuthTokens {
		const token = this.refreshTokens.get(text);
		if (token?.grant.app.clientId !== clientId || !this.isLive(token.grant)) {
			throw new InvalidGrantError('The refresh token is unknown or was revoked.');
		}
		const now = this.clock.now();
		token.usedAt ??= now;
		if (now - token.usedAt > refreshLeewaySeconds * 1000) {
			token.grant.ended = true;
			throw new InvalidGrantError('The refresh token was used before. Sign in again.');
		}
		return this.issueTokens(token.grant);
	}

	/** What an access token stands for, or null where it is not good. */
	access(text: string): AccessToken | null {
		const token = this.accessTokens.get(text);
		if (!token || token.expiresAt <= this.clock.now()) return null;
		return this.isLive(token.grant) ? token : null;
	}

	/** Ends the grant of a token, where it is this client's. */
	revoke(clientId: string, text: string): void {
		const token = this.refreshTokens.get(text) ?? this.accessTokens.get(text);
		if (token?.grant.app.clientId === clientId) token.grant.ended = true;
	}

	/** Whether an app could still get at something without a person's help. */
	isSignedIn(app: ConnectedApp): boolean {
		return [...this.refreshTokens.values()].some(
			({ grant }) => grant.app === app && this.isLive(grant),
		);
	}

	/** Makes the access tokens of an app end now; it can refresh them. */
	expire(app: ConnectedApp): void {
		const now = this.clock.now();
		for (const token of this.accessTokens.values()) {
			if (token.grant.app === app) token.expiresAt = Math.min(token.expiresAt, now);
		}
	}

	private findCode(clientId: string, text: string): Code {
		const code = this.codes.get(text);
		if (!code || code.app.clientId !== clientId) throw new InvalidGrantError('Unknown code.');
		if (code.grant) {
			code.grant.ended = true;
			throw new InvalidGrantError('The code was used before. Its tokens have been revoked.');
		}
		if (code.expiresAt <= this.clock.now()) throw new InvalidGrantError('The code has expired.');
		if (!this.apps.has(code.app)) throw new InvalidGrantError('The app was disconnected.');
		return code;
	}

	private isLive(grant: LiveGrant): boolean {
		return !grant.ended && this.apps.has(grant.app);
	}

	private issueTokens(grant: LiveGrant): OAuthTokens {
		const [accessToken, refreshToken] = [opaque(), opaque()];
		const expiresAt = this.clock.now() + this.accessSeconds * 1000;
		this.accessTokens.set(accessToken, { grant, expiresAt });
		this.refreshTokens.set(refreshToken, { grant, usedAt: null });
		return {
			access_token: accessToken,
			token_type: 'Bearer',
			expires_in: this.accessSeconds,
			refresh_token: refreshToken,
			scope,
		};
	}
}
