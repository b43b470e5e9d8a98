/** Authorization and metadata as the standards define them, for clients other than the SDK's. */
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';
import { challengeOf, question, register } from './oauth-requests';
import { App, callback, callTool } from './signing-in';

let sandbox: Sandbox;

beforeAll(async () => (sandbox = await startSandbox()));
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

describe('/authorize (RFC 6749, 4.1.2.1)', () => {
	const code_challenge = challengeOf('x'.repeat(43));

	it.each([
		['no response type', { response_type: undefined }, 'invalid_request'],
		['the response type token', { response_type: 'token' }, 'unsupported_response_type'],
		['no challenge', { code_challenge: undefined }, 'invalid_request'],
		['a malformed challenge', { code_challenge: 'short' }, 'invalid_request'],
		['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
		['no method, which is plain', { code_challenge_method: undefined }, 'invalid_request'],
		['another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
	])('sends the app an error with its state: %s', async (_what, parameters, error) => {
		const { data } = await register(sandbox, { token_endpoint_auth_method: 'none' });
		const asked = question(sandbox, { client_id: data.client_id, code_challenge, ...parameters });
		for (const method of ['GET', 'POST']) {
			const answer = await http.request({
				url: method === 'GET' ? asked.href : `${sandbox.url}/authorize`,
				method,
				...(method === 'POST' && { data: new URLSearchParams(asked.searchParams) }),
			});
			expect(answer.status).toBe(302);
			const back = new URL(answer.headers.location as string);
			expect(back.origin + back.pathname).toBe(callback);
			expect(Object.fromEntries(back.searchParams)).toEqual({
				error,
				// RFC 6749, 4.1.2.1: no quotes and no backslashes.
				error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
				state: 'a state',
			});
		}
	});

	it('sends the app an error for a parameter that is sent twice, but nowhere for the redirect URI', async () => {
		const { data } = await register(sandbox, { token_endpoint_auth_method: 'none' });
		const twice = (name: string) => {
			const asked = question(sandbox, { client_id: data.client_id, code_challenge });
			asked.searchParams.append(name, asked.searchParams.get(name) ?? '');
			return http.get(asked.href);
		};
		const { headers } = await twice('code_challenge');
		const back = new URL(headers.location as string);
		expect(back.searchParams.get('error')).toBe('invalid_request');
		for (const name of ['redirect_uri', 'client_id']) {
			const answer = await twice(name);
			expect([answer.status, answer.headers.location]).toEqual([400, undefined]);
		}
	});

	it('accepts a form in the body, and shows an error if it cannot send the app one', async () => {
		const { data } = await register(sandbox, { token_endpoint_auth_method: 'none' });
		const asked = question(sandbox, { client_id: data.client_id, code_challenge });
		const answer = await http.post(`${sandbox.url}/authorize`, asked.searchParams);
		expect(answer.headers.location).toMatch(/^\/sign-in\?request=/);
		const refused = await http.get(`${sandbox.url}/authorize`);
		expect(refused).toMatchObject({ status: 400, data: { error: 'invalid_request' } });
	});
});

describe('the metadata', () => {
	const read = async (path: string, host?: string) => {
		const headers = host === undefined ? {} : { host };
		const answer = await http.get<Record<string, unknown>>(`${sandbox.url}${path}`, { headers });
		return { status: answer.status, headers: answer.headers, body: answer.data };
	};
	const server = '/.well-known/oauth-authorization-server';

	it.each(['localhost', '127.0.0.1', '[::1]'])(
		'follows the host that was asked: %s',
		async (name) => {
			const methods = ['client_secret_basic', 'client_secret_post', 'none'];
			// Another port, as with a forwarded one.
			const origin = `http://${name}:1234`;
			const host = `${name}:1234`;
			const refused = await http.post(`${sandbox.url}/mcp`, {}, { headers: { host } });
			const [, address] =
				/resource_metadata="([^"]+)"/.exec(refused.headers['www-authenticate'] as string) ?? [];
			expect(address).toBe(`${origin}/.well-known/oauth-protected-resource/mcp`);
			const { body: resource } = await read(new URL(address).pathname, host);
			expect(resource).toMatchObject({
				resource: `${origin}/mcp`,
				authorization_servers: [`${origin}/`],
			});
			const { body } = await read(server, host);
			expect(body).toMatchObject({
				issuer: `${origin}/`,
				authorization_endpoint: `${origin}/authorize`,
				token_endpoint: `${origin}/token`,
				registration_endpoint: `${origin}/register`,
				revocation_endpoint: `${origin}/revoke`,
				code_challenge_methods_supported: ['S256'],
				grant_types_supported: ['authorization_code', 'refresh_token'],
				token_endpoint_auth_methods_supported: methods,
			});
		},
	);
});

it.each(['http://localhost', 'http://127.0.0.1'])(
	'an app signs in through %s, with the resource that it was told',
	async (origin) => {
		const { port } = new URL(sandbox.url);
		const url = `${origin}:${port}`;
		for (const path of ['/mcp', '/mcp/']) {
			const app = new App({ ...sandbox, url }, 'An app', callback, path);
			const client = await app.signIn();
			expect((await callTool(client, 'get_balance')).failed).toBe(false);
			expect(app.question?.searchParams.get('resource')).toBe(`${url}${path}`);
			await client.close();
		}
	},
);

it('a token is valid under each name of this machine, and a resource of another port is refused', async () => {
	const { port } = new URL(sandbox.url);
	const app = new App({ ...sandbox, url: `http://localhost:${port}` });
	await (await app.signIn()).close();
	const headers = { authorization: `Bearer ${app.given?.access_token}` };
	expect((await http.get(`${sandbox.url}/mcp`, { headers })).status).toBe(405);
	const refresh = { grant_type: 'refresh_token', refresh_token: app.given?.refresh_token ?? '' };
	const other = { ...refresh, resource: 'http://localhost:1/mcp' };
	expect(await app.tokenRequest(other)).toMatchObject({ status: 400, error: 'invalid_target' });
	const resource = `http://127.0.0.1:${port}/mcp`;
	expect(await app.tokenRequest({ ...refresh, resource })).toMatchObject({ status: 200 });
});
