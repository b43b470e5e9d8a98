import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type {
	OAuthClientInformationMixed,
	OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { AxiosResponse } from 'axios';
import type { ConnectedApp } from '../../sandbox/accounts/connected-apps';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';

/** Redirect URI of the tests' apps. Nothing listens there, because the tests do not follow it. */
export const callback = 'http://localhost:9876/callback';

/** Opens a page as a browser does: follows links within the sandbox, and stops where they lead elsewhere. */
export async function openPage(address: string | URL): Promise<AxiosResponse<string>> {
	const response = await http.get<string>(String(address));
	const next = response.headers.location as string | undefined;
	if (next === undefined || next.startsWith('http')) return response;
	return await openPage(new URL(next, address));
}

/** Sends the form of a page by one of its buttons, with some fields filled in. */
export async function press(
	address: string | URL,
	html: string,
	button: string,
	filled: Record<string, string> = {},
	headers: Record<string, string> = {},
): Promise<AxiosResponse> {
	const form = html.split('<form').find((text) => text.includes(`value="${button}"`)) ?? '';
	const hidden = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)];
	const [, name] = /<button name="(\w+)"/.exec(form) ?? ['', 'button'];
	const fields = Object.fromEntries(hidden.map(([, key, value]) => [key, value]));
	const [, action] = /action="([^"]+)"/.exec(form) ?? ['', ''];
	const target = new URL(action, address);
	const body = new URLSearchParams({ ...fields, [name]: button, ...filled });
	return await http.post(target.href, body, { headers: { origin: target.origin, ...headers } });
}

/** Answers the question of an authorization address. Returns where the person is sent back to. */
export async function answerQuestion(
	address: string | URL,
	button: 'allow' | 'deny',
	account = 'main',
): Promise<URL> {
	const { data: html } = await openPage(address);
	const { headers } = await press(address, html, button, { account });
	return new URL(headers.location);
}

/** An app that signs in with the SDK's own client, and keeps in memory what it is given. */
export class App implements OAuthClientProvider {
	readonly clientMetadata;
	registration: OAuthClientInformationMixed | undefined;
	/** The tokens that it received last. */
	given: OAuthTokens | undefined;
	/** The address where the user allows the sign-in. */
	question: URL | null = null;
	private verifier = '';

	constructor(
		private readonly sandbox: Sandbox,
		name = 'Test app',
		readonly redirectUrl = callback,
		private readonly path = '/mcp',
	) {
		this.clientMetadata = {
			client_name: name,
			redirect_uris: [redirectUrl],
			token_endpoint_auth_method: 'none',
		};
	}

	state = () => 'a state';
	clientInformation = () => this.registration;
	saveClientInformation(registration: OAuthClientInformationMixed) {
		this.registration = registration;
	}
	tokens = () => this.given;
	saveTokens(tokens: OAuthTokens) {
		this.given = tokens;
	}
	redirectToAuthorization(address: URL) {
		this.question = address;
	}
	saveCodeVerifier(verifier: string) {
		this.verifier = verifier;
	}
	codeVerifier = () => this.verifier;

	private transport(): StreamableHTTPClientTransport {
		const address = new URL(`${this.sandbox.url}${this.path}`);
		return new StreamableHTTPClientTransport(address, { authProvider: this });
	}

	/** Starts a sign-in, and returns the address where the user answers. */
	async ask(): Promise<URL> {
		const client = new Client({ name: 'test', version: '1.0.0' });
		await client.connect(this.transport()).catch(() => undefined);
		if (!this.question) throw new Error('No sign-in was asked for.');
		return this.question;
	}

	/** Signs in for an account, with a person who allows it. */
	async signIn(account = 'main'): Promise<Client> {
		const back = await answerQuestion(await this.ask(), 'allow', account);
		await this.transport().finishAuth(back.searchParams.get('code') ?? '');
		return await this.connect();
	}

	/** Connects with its current tokens. */
	async connect(): Promise<Client> {
		const client = new Client({ name: 'test', version: '1.0.0' });
		await client.connect(this.transport());
		return client;
	}

	/** The sandbox's entry for this app. */
	get connected(): ConnectedApp {
		const { apps } = this.sandbox.service;
		const found = apps.all().find(({ clientId }) => clientId === this.registration?.client_id);
		if (!found) throw new Error('The app is not connected.');
		return found;
	}

	/** Sends a form to the token endpoint as this app; `fields` on top of what it would send. */
	async tokenRequest(fields: Record<string, string>): Promise<{ status: number; error: string }> {
		const { status, data } = await this.askForTokens<{ error?: string }>(fields);
		return { status, error: data.error ?? '' };
	}

	/** The tokens for a code. */
	async redeem(code: string): Promise<OAuthTokens> {
		return (await this.askForTokens<OAuthTokens>({ code })).data;
	}

	private async askForTokens<T>(fields: Record<string, string>): Promise<AxiosResponse<T>> {
		const body = new URLSearchParams({
			client_id: this.registration?.client_id ?? '',
			grant_type: 'authorization_code',
			redirect_uri: callback,
			code_verifier: this.verifier,
			...fields,
		});
		return await http.post<T>(`${this.sandbox.url}/token`, body);
	}
}

/** Calls a tool, and reads its text. */
export async function callTool(client: Client, name: string, args: object = {}) {
	const result = (await client.callTool({ name, arguments: { ...args } })) as CallToolResult;
	const [content] = result.content;
	if (content.type !== 'text') throw new Error('Not a text');
	const body = JSON.parse(content.text) as Record<string, unknown>;
	return { failed: result.isError === true, body };
}
