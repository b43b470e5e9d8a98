/** Attacks that the sign-in to the connector has to withstand. */
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';
import { answerQuestion, App, callback, openPage, press } from './signing-in';
import { VirtualClock } from './virtual';

const clock = new VirtualClock();
const log: string[] = [];
let sandbox: Sandbox;
let app: App;
let question: URL;

beforeAll(async () => {
	sandbox = await startSandbox({ clock, log: (line) => log.push(line) });
});
afterAll(async () => await sandbox.close());
beforeEach(async () => {
	sandbox.reset();
	app = new App(sandbox);
	question = await app.ask();
});

/** The address of the question with a changed parameter. */
function changed(parameter: Record<string, string>): URL {
	const address = new URL(question);
	const [[name, value]] = Object.entries(parameter);
	address.searchParams.set(name, value);
	return address;
}

async function code(): Promise<string> {
	const back = await answerQuestion(question, 'allow');
	return back.searchParams.get('code') ?? '';
}

async function mcpStatus(token: string, url = sandbox.url): Promise<number> {
	const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
	// 405: let in, and told that there is no stream.
	return (await http.get(`${url}/mcp`, { headers })).status;
}

describe('an authorization request', () => {
	it.each([
		['another host', 'https://evil.example/callback'],
		['another path', 'http://localhost:9876/elsewhere'],
		['another name of this machine', 'http://127.0.0.1:9876/callback'],
		['no address', 'nowhere'],
	])('does not redirect to an unregistered address: %s', async (_what, address) => {
		const answer = await openPage(changed({ redirect_uri: address }));
		expect([answer.status, answer.headers.location]).toEqual([400, undefined]);
	});

	const register = async (...addresses: string[]) =>
		await http.post<{ error: string }>(`${sandbox.url}/register`, {
			redirect_uris: addresses,
			token_endpoint_auth_method: 'none',
		});

	it.each([
		...['http://evil.example/callback', 'http://localhost.evil.example/callback'],
		...['https://app.example/#', 'javascript:alert(1)', 'data:text/html,hello', 'myapp:/callback'],
		...['intent://scan#Intent;scheme=zxing;end', 'blob:https://app.example/1', 'ws://localhost/'],
	])('cannot come from an app with the redirect URI %s', async (address) => {
		for (const addresses of [[address], [callback, address]]) {
			const { status, data } = await register(...addresses);
			expect([status, data.error]).toEqual([400, 'invalid_client_metadata']);
		}
	});
});

describe('the consent page', () => {
	const consent = async () => (await openPage(question)).data;
	const nothingAllowed = () => expect(sandbox.service.apps.all()).toEqual([]);

	it('accepts one answer, within ten minutes', async () => {
		const html = await consent();
		const deny = async () => (await press(question, html, 'deny')).status;
		expect([await deny(), await deny()]).toEqual([303, 400]);
		const late = await consent();
		clock.pass(600);
		expect((await press(question, late, 'allow', { account: 'main' })).status).toBe(400);
		nothingAllowed();
	});
});

describe('a code', () => {
	it.each([
		['no PKCE verifier', { code_verifier: '' }, 'invalid_grant'],
		['a wrong PKCE verifier', { code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
		['another redirect address', { redirect_uri: `${callback}/2` }, 'invalid_grant'],
		['another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
		['another app', { client_id: 'nobody' }, 'invalid_client'],
	])('is rejected with %s', async (_what, fields, error) => {
		const text = await code();
		expect(await app.tokenRequest({ code: text, ...fields })).toEqual({ status: 400, error });
	});

	it('is valid once: a second use revokes its grant', async () => {
		const text = await code();
		const first = await app.redeem(text);
		expect(await mcpStatus(first.access_token)).toBe(405);
		expect(await app.tokenRequest({ code: text })).toMatchObject({ error: 'invalid_grant' });
		expect(await mcpStatus(first.access_token)).toBe(401);
	});
});

describe('a token', () => {
	it('is rejected by the REST interface', async () => {
		await (await app.signIn()).close();
		const { access_token: access, refresh_token: refresh } = app.given ?? {};
		for (const token of [access, refresh]) {
			const headers = { authorization: `Bearer ${token}` };
			const answer = await http.get(`${sandbox.url}/v1/credits/balance`, { headers });
			expect(answer.status).toBe(401);
		}
		expect(await mcpStatus(refresh ?? '')).toBe(401);
	});

	it('expires, and ends when the app is disconnected', async () => {
		await (await app.signIn()).close();
		const token = app.given?.access_token ?? '';
		clock.pass(3599);
		expect(await mcpStatus(token)).toBe(405);
		clock.pass(1);
		expect(await mcpStatus(token)).toBe(401);

		const refresh = { grant_type: 'refresh_token', refresh_token: app.given?.refresh_token ?? '' };
		sandbox.service.apps.disconnect(app.connected.name);
		expect(await app.tokenRequest(refresh)).toMatchObject({ error: 'invalid_grant' });
	});

	it('for refreshing revokes its grant if it is used again later', async () => {
		await (await app.signIn()).close();
		const stolen = app.given?.refresh_token ?? '';
		const refresh = { grant_type: 'refresh_token', refresh_token: stolen };
		expect(await app.tokenRequest(refresh)).toMatchObject({ status: 200 });
		clock.pass(31);
		expect(await app.tokenRequest(refresh)).toMatchObject({ error: 'invalid_grant' });
		expect(await mcpStatus(app.given?.access_token ?? '')).toBe(401);
	});

	it('is never logged, and neither is a code or a state', async () => {
		log.length = 0;
		const text = await code();
		const { access_token: access, refresh_token: refresh = '' } = await app.redeem(text);
		await mcpStatus(access);
		await app.tokenRequest({ grant_type: 'refresh_token', refresh_token: refresh });
		const lines = log.join('\n');
		for (const path of ['/authorize', '/token', '/sign-in', '/mcp']) expect(lines).toContain(path);
		const known = JSON.stringify(sandbox.requests.all);
		const secrets = [text, access, refresh, 'a state', question.searchParams.get('code_challenge')];
		for (const secret of secrets) {
			expect(lines).not.toContain(secret);
			expect(known).not.toContain(secret);
		}
	});
});
