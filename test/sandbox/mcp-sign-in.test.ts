/** The connector with a sign-in (spec 1.6, 2.6, 5.8): the SDK's own client, and a person with a browser. */
import type { AxiosRequestConfig } from 'axios';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';
import { answerQuestion, App, callback, callTool, openPage, press } from './signing-in';
import { VirtualClock } from './virtual';

const clock = new VirtualClock();
let sandbox: Sandbox;

beforeAll(async () => (sandbox = await startSandbox({ clock, generationSeconds: 10 })));
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const boat = { type: 'image', model: 'aurora-image-1', prompt: 'A paper boat', size: '128x128' };

async function read(path: string, config?: AxiosRequestConfig) {
	const url = `${sandbox.url}${path}`;
	const { status, headers, data } = await http.request<unknown>({ url, ...config });
	return { status, headers, body: data };
}

describe('an app that has not signed in', () => {
	it('asks the user about the app, the account, and the permissions', async () => {
		const app = new App(sandbox, 'An <b>app</b>');
		const asked = await openPage(await app.ask());
		const text = asked.data;
		expect(text).toContain('<b>An &lt;b&gt;app&lt;/b&gt;</b> asks to use the connector');
		expect(text).toContain('sent back to <b>localhost:9876</b>');
		expect(text).toContain('main (100,000 credits)');
		expect(text).toContain('up to 500 in any 24 hours');
		expect(asked.headers['content-security-policy']).toContain("frame-ancestors 'none'");
		expect(sandbox.service.apps.all()).toEqual([]);
	});

	it('receives an error if the user denies access', async () => {
		const back = await answerQuestion(await new App(sandbox).ask(), 'deny');
		expect(back.origin + back.pathname).toBe(callback);
		expect(Object.fromEntries(back.searchParams)).toEqual({
			state: 'a state',
			error: 'access_denied',
			error_description: 'The request to connect was denied.',
		});
		expect(sandbox.service.apps.all()).toEqual([]);
	});
});

describe('an app that has signed in', () => {
	it('can create and see its balance, for the account that the user chose', async () => {
		const client = await new App(sandbox).signIn('pro');
		const { body: made } = await callTool(client, 'create_generation', boat);
		const entry = sandbox.books.find(String(made.id));
		expect(entry).toMatchObject({ account: 'pro', key: 'app-1', charged: 8 });
		expect((await callTool(client, 'get_balance')).body.balance).toBe(99_992);
		await client.close();
	});

	it('has its access token refreshed silently, even for two requests at once', async () => {
		const app = new App(sandbox);
		const client = await app.signIn();
		const before = app.given;
		clock.pass(3600);
		expect((await callTool(client, 'get_balance')).failed).toBe(false);
		expect(app.given?.access_token).not.toBe(before?.access_token);

		sandbox.signIn.grants.expire(app.connected);
		expect((await callTool(client, 'get_balance')).failed).toBe(false);
		await client.close();
	});
});

describe('the page "API / MCP Access"', () => {
	const address = () => `${sandbox.url}/connected-apps`;

	it('shows what an app has spent, and pauses, resumes, limits and disconnects it', async () => {
		const app = new App(sandbox, 'n8n');
		const client = await app.signIn();
		const create = async () => (await callTool(client, 'create_generation', boat)).body;
		await create();
		const shown = async () => (await openPage(address())).data;
		const pressed = async (button: string, fields = {}) =>
			(await press(address(), await shown(), button, fields)).status;
		expect(await shown()).toMatch(/n8n <code>app-1<.*8 of 500 credits.*active/);

		expect(await pressed('pause')).toBe(303);
		expect(await shown()).toContain('paused');
		expect(await create()).toMatchObject({ error: { code: 'CONNECTION_PAUSED' } });
		expect((await callTool(client, 'get_balance')).failed).toBe(false);

		expect(await pressed('resume')).toBe(303);
		expect(await pressed('limit', { dailyLimit: '10' })).toBe(303);
		expect(await shown()).toContain('8 of 10 credits');
		expect(await create()).toMatchObject({
			error: { code: 'CONNECTION_LIMIT_REACHED', message: expect.stringContaining('8 of 10') },
		});
		for (const dailyLimit of ['', '-1', '1.5', 'many']) {
			expect(await pressed('limit', { dailyLimit })).toBe(400);
		}
		expect(app.connected.connection.dailyLimit).toBe(10);

		expect(await pressed('disconnect')).toBe(303);
		expect(await shown()).toContain('None yet');
		await expect(callTool(client, 'get_balance')).rejects.toThrow();
		const headers = { authorization: `Bearer ${app.given?.access_token}` };
		expect((await read('/mcp', { method: 'POST', headers })).status).toBe(401);
		await client.close();
	});
});
