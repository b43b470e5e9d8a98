import { randomBytes } from 'node:crypto';
import { InvalidGrantError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { ConnectedApp, ConnectedApps } from '../accounts/connected-apps';
import type { Clock } from '../basics/clock';

/** A user's permission for an app to use one resource for an account. */
interface Grant {
	readonly app: ConnectedApp;
	/** URL of the resource that its tokens are valid for (RFC 8707). */
	readonly resource: string;
}

/** The values that a code is bound to. */
interface CodeOrder extends Grant {
	/** The PKCE challenge (method S256). */
	readonly challenge: string;
	readonly redirectUri: string;
}

/** A grant in use. */
interface LiveGrant extends Grant {
	ended: boolean;
}

interface Code extends CodeOrder {
	readonly expiresAt: number;
	/** The grant that was created when the code was used. */
	grant: LiveGrant | null;
}

interface RefreshToken {
	readonly grant: LiveGrant;
	/** Time of its first use in milliseconds since 1970. */
	usedAt: number | null;
}

interface AccessToken {
	readonly grant: Grant;
	/** Milliseconds since 1970. */
	expiresAt: number;
}

/** The only scope. It allows using the connector. */
export const scope = 'mcp';

const codeSeconds = 60;
const accessSeconds = 3600;

/**
 * Grace period in which a used refresh token is still accepted. Some clients, including the SDK's, refresh for two
 * requests at the same time. Without the grace period, the second refresh would revoke the grant.
 */
const refreshLeewaySeconds = 30;

function opaque(): string {
	return randomBytes(32).toString('base64url');
}

/** Stores codes and tokens. They are opaque: their meaning is kept here, in memory. */
export class Grants {
	private readonly codes = new Map<string, Code>();
	private readonly accessTokens = new Map<string, AccessToken & { grant: LiveGrant }>();
	private readonly refreshTokens = new Map<string, RefreshToken>();

	constructor(
		private readonly clock: Clock,
		private readonly apps: ConnectedApps,
	) {}

	/** Issues a code that is valid once, for one minute. */
	issueCode(order: CodeOrder): string {
		const text = opaque();
		const expiresAt = this.clock.now() + codeSeconds * 1000;
		this.codes.set(text, { ...order, expiresAt, grant: null });
		return text;
	}

	/** Exchanges a code for tokens. The code cannot be used again. Throws InvalidGrantError. */
	redeem(clientId: string, text: string): OAuthTokens {
		const code = this.code(clientId, text);
		const { app, resource } = code;
		code.grant = { app, resource, ended: false };
		return this.issueTokens(code.grant);
	}

	/**
	 * Exchanges a refresh token for new tokens. Another use after the grace period means that it was stolen, and
	 * revokes the grant.
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

	/** Returns the stored access token, or null if it is not valid. */
	access(text: string): AccessToken | null {
		const token = this.accessTokens.get(text);
		if (!token || token.expiresAt <= this.clock.now()) return null;
		return this.isLive(token.grant) ? token : null;
	}

	/** Makes the access tokens of an app expire now. The app can refresh them. */
	expire(app: ConnectedApp): void {
		const now = this.clock.now();
		for (const token of this.accessTokens.values()) {
			if (token.grant.app === app) token.expiresAt = Math.min(token.expiresAt, now);
		}
	}

	/**
	 * Returns the values that a code is bound to. Throws InvalidGrantError if the code belongs to another client or is
	 * no longer valid. A second use means that the code was stolen, and revokes the grant (RFC 6749, 4.1.2).
	 */
	code(clientId: string, text: string): Code {
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
		const expiresAt = this.clock.now() + accessSeconds * 1000;
		this.accessTokens.set(accessToken, { grant, expiresAt });
		this.refreshTokens.set(refreshToken, { grant, usedAt: null });
		return {
			access_token: accessToken,
			token_type: 'Bearer',
			expires_in: accessSeconds,
			refresh_token: refreshToken,
			scope,
		};
	}
}
