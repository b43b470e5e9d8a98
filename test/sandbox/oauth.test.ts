/** Registration, authorization, tokens and metadata as the standards define them, for clients other than the SDK's. */
import { createHash } from 'node:crypto';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';
import { answerQuestion, App, callback, callTool } from './signing-in';

let sandbox: Sandbox;

beforeAll(async () => (sandbox = await startSandbox()));
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const code_verifier = 'x'.repeat(43);
const code_challenge = createHash('sha256').update(code_verifier).digest('base64url');

/** Registers an app. */
async function register(metadata: object = {}) {
	const body = { redirect_uris: [callback], ...metadata };
	return await http.post<Record<string, unknown>>(`${sandbox.url}/register`, body);
}

/** Returns the address where an app asks for a code; undefined leaves a parameter out. */
async function question(parameters: Record<string, string | undefined> = {}): Promise<URL> {
	const address = new URL('/authorize', sandbox.url);
	const usual = {
		response_type: 'code',
		client_id: String((await register()).data.client_id),
		code_challenge,
		code_challenge_method: 'S256',
		redirect_uri: callback,
		state: 'a state',
	};
	for (const [name, value] of Object.entries({ ...usual, ...parameters })) {
		if (value !== undefined) address.searchParams.set(name, value);
	}
	return address;
}

describe('a registration (RFC 7591)', () => {
	it.each([undefined, 'client_secret_basic', 'none'])(
		'gets no secret, and says so, whatever it asks for: %s',
		async (token_endpoint_auth_method) => {
			const { status, data } = await register({ token_endpoint_auth_method });
			expect(status).toBe(201);
			expect(data).toMatchObject({
				token_endpoint_auth_method: 'none',
				grant_types: ['authorization_code', 'refresh_token'],
				response_types: ['code'],
			});
			expect(data.client_secret).toBeUndefined();
		},
	);

	it.each([{ grant_types: ['client_credentials'] }, { response_types: ['token'] }])(
		'of what the sandbox cannot do is refused: %j',
		async (metadata) => {
			const { status, data } = await register(metadata);
			expect([status, data.error]).toEqual([400, 'invalid_client_metadata']);
		},
	);

	it.each(['{', '[]'])('that cannot be read gets the error of RFC 7591: %s', async (body) => {
		const answer = await http.post(`${sandbox.url}/register`, body);
		expect(answer).toMatchObject({ status: 400, data: { error: 'invalid_client_metadata' } });
		expect(answer.headers['access-control-allow-origin']).toBe('*');
	});
});

describe('/authorize (RFC 6749, 4.1.2.1)', () => {
	it.each([
		['no response type', { response_type: undefined }, 'invalid_request'],
		['the response type token', { response_type: 'token' }, 'unsupported_response_type'],
		['no challenge', { code_challenge: undefined }, 'invalid_request'],
		['no method, which is plain', { code_challenge_method: undefined }, 'invalid_request'],
		['another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
	])('sends the app an error with its state: %s', async (_what, parameters, error) => {
		const { status, headers } = await http.get((await question(parameters)).href);
		expect(status).toBe(302);
		const back = new URL(headers.location as string);
		expect(back.origin + back.pathname).toBe(callback);
		expect(Object.fromEntries(back.searchParams)).toMatchObject({ error, state: 'a state' });
	});

	it('accepts a form in the body, and shows an error if it cannot send the app one', async () => {
		const asked = await question();
		const answer = await http.post(`${sandbox.url}/authorize`, asked.searchParams);
		expect(answer.headers.location).toMatch(/^\/sign-in\?request=/);
		const refused = await http.get(`${sandbox.url}/authorize`);
		expect(refused).toMatchObject({ status: 400, data: { error: 'invalid_client' } });
	});
});

describe('the token endpoint (RFC 6749)', () => {
	const token = async (fields: Record<string, string>) =>
		await http.post<Record<string, unknown>>(`${sandbox.url}/token`, new URLSearchParams(fields));

	it('gives and refreshes tokens', async () => {
		const asked = await question();
		const client_id = asked.searchParams.get('client_id') ?? '';
		const code = (await answerQuestion(asked, 'allow')).searchParams.get('code') ?? '';
		const grant = { grant_type: 'authorization_code', code, code_verifier };
		const first = await token({ ...grant, client_id, redirect_uri: callback });
		expect([first.status, typeof first.data.access_token]).toEqual([200, 'string']);
		const refresh_token = String(first.data.refresh_token);
		const second = await token({ grant_type: 'refresh_token', refresh_token, client_id });
		const headers = { authorization: `Bearer ${String(second.data.access_token)}` };
		expect((await http.get(`${sandbox.url}/mcp`, { headers })).status).toBe(405);
	});

	it.each<[string, Record<string, string>, string]>([
		['an unknown app', { client_id: 'nobody' }, 'invalid_client'],
		['nothing', {}, 'invalid_request'],
	])('refuses %s', async (_what, fields, error) => {
		const { status, data } = await token({ grant_type: 'authorization_code', ...fields });
		expect([status, data.error]).toEqual([400, error]);
	});
});

it.each(['localhost', '127.0.0.1', '[::1]'])(
	'the metadata follows the host that was asked: %s',
	async (name) => {
		// Another port, as with a forwarded one.
		const [origin, host] = [`http://${name}:1234`, `${name}:1234`];
		const refused = await http.post(`${sandbox.url}/mcp`, {}, { headers: { host } });
		const [, address] =
			/resource_metadata="([^"]+)"/.exec(refused.headers['www-authenticate'] as string) ?? [];
		expect(address).toBe(`${origin}/.well-known/oauth-protected-resource/mcp`);
		const read = async (path: string) =>
			(await http.get<unknown>(`${sandbox.url}${path}`, { headers: { host } })).data;
		expect(await read(new URL(address).pathname)).toMatchObject({
			resource: `${origin}/mcp`,
			authorization_servers: [`${origin}/`],
		});
		expect(await read('/.well-known/oauth-authorization-server')).toMatchObject({
			issuer: `${origin}/`,
			authorization_endpoint: `${origin}/authorize`,
			token_endpoint: `${origin}/token`,
			registration_endpoint: `${origin}/register`,
			code_challenge_methods_supported: ['S256'],
			grant_types_supported: ['authorization_code', 'refresh_token'],
			token_endpoint_auth_methods_supported: ['none'],
		});
	},
);

it.each(['/mcp', '/mcp/'])(
	'an app signs in through localhost, with the resource that it was told: %s',
	async (path) => {
		const url = `http://localhost:${new URL(sandbox.url).port}`;
		const app = new App({ ...sandbox, url }, 'An app', callback, path);
		const client = await app.signIn();
		expect((await callTool(client, 'get_balance')).failed).toBe(false);
		expect(app.question?.searchParams.get('resource')).toBe(`${url}${path}`);
		await client.close();
		// Its token is valid under each name of this machine.
		const headers = { authorization: `Bearer ${app.given?.access_token}` };
		expect((await http.get(`${sandbox.url}/mcp`, { headers })).status).toBe(405);
	},
);
