/** Registration and tokens as the standards define them, for clients other than the SDK's. */
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';
import { basic, code, register, token } from './oauth-requests';
import type { Registration, TokenAnswer } from './oauth-requests';

let sandbox: Sandbox;

beforeAll(async () => (sandbox = await startSandbox()));
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

describe('a registration (RFC 7591)', () => {
	it.each([
		[undefined, 'client_secret_basic', true],
		['client_secret_post', 'client_secret_post', true],
		['none', 'none', false],
	])('names the method for the token endpoint: %s', async (asked, named, secret) => {
		const { status, data } = await register(sandbox, { token_endpoint_auth_method: asked });
		expect(status).toBe(201);
		expect(data).toMatchObject({
			token_endpoint_auth_method: named,
			grant_types: ['authorization_code', 'refresh_token'],
			response_types: ['code'],
		});
		expect(data.client_secret !== undefined).toBe(secret);
	});

	it.each([
		{ token_endpoint_auth_method: 'private_key_jwt' },
		{ token_endpoint_auth_method: 5 },
		{ grant_types: ['client_credentials'] },
		{ response_types: ['token'] },
	])('of what the sandbox cannot do is refused: %j', async (metadata) => {
		const { status, data } = await register(sandbox, metadata);
		expect([status, data.error]).toEqual([400, 'invalid_client_metadata']);
	});

	it.each<[string, string | Buffer, object]>([
		['no JSON', '{', {}],
		['no object', '[]', {}],
		['another type', 'redirect_uris=http://localhost/', { 'content-type': 'text/plain' }],
		['other bytes than UTF-8', Buffer.from('{"client_name":"\u00e9"}', 'latin1'), {}],
		['an unknown charset', '{}', { 'content-type': 'application/json; charset=nonsense' }],
		['too many levels', `{"jwks":${'['.repeat(5000)}${']'.repeat(5000)}}`, {}],
		['too many bytes', `{"client_name":"${'x'.repeat(200_000)}"}`, {}],
		['a compressed body', 'x', { 'content-encoding': 'gzip' }],
	])('that cannot be read gets the error that RFC 7591 defines: %s', async (_what, body, more) => {
		const headers = { 'content-type': 'application/json', ...more };
		const answer = await http.post(`${sandbox.url}/register`, body, { headers });
		expect(answer).toMatchObject({ status: 400, data: { error: 'invalid_client_metadata' } });
		expect(answer.headers['access-control-allow-origin']).toBe('*');
	});
});

describe('the token endpoint (RFC 6749)', () => {
	it.each(['client_secret_basic', 'client_secret_post', 'none'])(
		'gives, refreshes and revokes tokens for an app with %s',
		async (method) => {
			const { data: app } = await register(sandbox, { token_endpoint_auth_method: method });
			const { client_id, client_secret } = app;
			const isBasic = method === 'client_secret_basic';
			const fields = isBasic ? {} : { client_id, client_secret };
			const headers = isBasic ? basic(client_id, client_secret) : {};
			const first = await token(
				sandbox,
				{ ...(await code(sandbox, client_id)), ...fields },
				headers,
			);
			expect([first.status, typeof first.data.access_token]).toEqual([200, 'string']);

			const { refresh_token } = first.data;
			const refresh = { grant_type: 'refresh_token', refresh_token, ...fields };
			const second = await token(sandbox, refresh, headers);
			expect(second.status).toBe(200);
			const status = async () => {
				const authorization = `Bearer ${second.data.access_token}`;
				return (await http.get(`${sandbox.url}/mcp`, { headers: { authorization } })).status;
			};
			expect(await status()).toBe(405);
			const revoked = await token(sandbox, { token: refresh_token, ...fields }, headers, '/revoke');
			expect([revoked.status, await status()]).toEqual([200, 401]);
		},
	);

	it('accepts either form of a secret, and an empty one of an app without a secret', async () => {
		const { data: app } = await register(sandbox, {});
		const { client_id, client_secret } = app;
		const fields = { ...(await code(sandbox, client_id)), client_id, client_secret };
		expect((await token(sandbox, fields)).status).toBe(200);
		const { data } = await register(sandbox, { token_endpoint_auth_method: 'none' });
		const answer = await token(sandbox, await code(sandbox, data.client_id), basic(data.client_id));
		expect(answer.status).toBe(200);
	});

	it.each<[string, (app: Registration) => [object, object], number, string]>([
		['a wrong secret', ({ client_id: id }) => [{}, basic(id, 'x')], 401, 'invalid_client'],
		['no secret', ({ client_id }) => [{ client_id }, {}], 400, 'invalid_client'],
		['an unknown app', () => [{}, basic('nobody', 'x')], 401, 'invalid_client'],
		['no Base64', () => [{}, { authorization: 'Basic ?' }], 401, 'invalid_client'],
		['another kind of header', () => [{}, { authorization: 'Digest x' }], 401, 'invalid_client'],
		['nothing', () => [{}, {}], 400, 'invalid_request'],
		[
			'two different apps',
			({ client_id: id, client_secret: secret }) => [{ client_id: 'nobody' }, basic(id, secret)],
			400,
			'invalid_request',
		],
	])('refuses %s', async (_what, sent, status, error) => {
		const { data: app } = await register(sandbox, {});
		const [fields, headers] = sent(app);
		for (const path of ['/token', '/revoke']) {
			const answer = await token(
				sandbox,
				{ ...(await code(sandbox, app.client_id)), token: 'x', ...fields },
				headers,
				path,
			);
			expect([answer.status, answer.data.error]).toEqual([status, error]);
			const challenge = answer.headers['www-authenticate'] as string | undefined;
			expect(challenge?.startsWith('Basic ') ?? false).toBe(status === 401);
			expect(answer.headers['access-control-allow-origin']).toBe('*');
		}
	});

	it.each([
		['JSON', '{"grant_type":"refresh_token"}', 'application/json'],
		['nothing', '', 'application/x-www-form-urlencoded'],
		['too many bytes', `a=${'b'.repeat(200_000)}`, 'application/x-www-form-urlencoded'],
	])('refuses a body that cannot be read as RFC 6749 defines: %s', async (_what, body, type) => {
		const headers = { 'content-type': type };
		for (const path of ['/token', '/revoke']) {
			const answer = await http.post(`${sandbox.url}${path}`, body, { headers });
			expect(answer).toMatchObject({ status: 400, data: { error: 'invalid_request' } });
		}
	});

	it('refuses a field that is sent twice', async () => {
		const { data: app } = await register(sandbox, { token_endpoint_auth_method: 'none' });
		const fields = new URLSearchParams({
			...(await code(sandbox, app.client_id)),
			client_id: app.client_id,
		});
		fields.append('code', 'another');
		const { status, data } = await http.post<TokenAnswer>(`${sandbox.url}/token`, fields);
		expect([status, data.error]).toEqual([400, 'invalid_request']);
	});

	it('needs the redirect URI only if /authorize had it (RFC 6749, 4.1.3)', async () => {
		const { data } = await register(sandbox, { token_endpoint_auth_method: 'none' });
		const client = { client_id: data.client_id };
		const omitted = await code(sandbox, data.client_id, { redirect_uri: undefined });
		expect((await token(sandbox, { ...omitted, ...client, redirect_uri: undefined })).status).toBe(
			200,
		);
		const sent = await code(sandbox, data.client_id);
		const { data: refused } = await token(sandbox, { ...sent, ...client, redirect_uri: undefined });
		expect(refused.error).toBe('invalid_grant');
	});
});
