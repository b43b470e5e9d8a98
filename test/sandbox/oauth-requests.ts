import { createHash, randomBytes } from 'node:crypto';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';
import { answerQuestion, callback } from './signing-in';

/** The answer to a registration. */
export interface Registration {
	client_id: string;
	client_secret?: string;
	token_endpoint_auth_method: string;
	grant_types: string[];
	response_types: string[];
	error?: string;
}

/** The PKCE challenge of a verifier (RFC 7636). */
export const challengeOf = (verifier: string) =>
	createHash('sha256').update(verifier).digest('base64url');

/** Registers an app. */
export async function register({ url }: Sandbox, metadata: object) {
	const body = { redirect_uris: [callback], ...metadata };
	return await http.post<Registration>(`${url}/register`, body);
}

/** The address where an app asks for a code; undefined leaves a parameter out. */
export function question({ url }: Sandbox, parameters: Record<string, string | undefined>): URL {
	const address = new URL('/authorize', url);
	const usual = {
		response_type: 'code',
		code_challenge_method: 'S256',
		redirect_uri: callback,
		state: 'a state',
	};
	for (const [name, value] of Object.entries({ ...usual, ...parameters })) {
		if (value !== undefined) address.searchParams.set(name, value);
	}
	return address;
}

/** The answer of the token endpoint. */
export interface TokenAnswer {
	access_token?: string;
	refresh_token?: string;
	error?: string;
	error_description?: string;
}

/** Sends a form to the token endpoint, or to another one. */
export async function token(
	{ url }: Sandbox,
	fields: Record<string, string | undefined>,
	headers = {},
	path = '/token',
) {
	const given = Object.entries(fields).filter(([, value]) => value !== undefined);
	const body = new URLSearchParams(given as Array<[string, string]>);
	return await http.post<TokenAnswer>(`${url}${path}`, body, { headers });
}

/** As RFC 6749, 2.3.1 says: both are encoded as in a form first. */
export function basic(id: string, secret = ''): { authorization: string } {
	const encoded = [id, secret].map((text) => new URLSearchParams({ text }).toString().slice(5));
	return { authorization: `Basic ${Buffer.from(encoded.join(':')).toString('base64')}` };
}

/** Lets a user allow an app, and returns the fields for its request of tokens. */
export async function code(
	sandbox: Sandbox,
	client_id: string,
	parameters: Record<string, string | undefined> = {},
) {
	const code_verifier = randomBytes(32).toString('base64url');
	const code_challenge = challengeOf(code_verifier);
	const back = await answerQuestion(
		question(sandbox, { client_id, code_challenge, ...parameters }),
		'allow',
	);
	return {
		grant_type: 'authorization_code',
		code: back.searchParams.get('code') ?? '',
		code_verifier,
		redirect_uri: callback,
	};
}
