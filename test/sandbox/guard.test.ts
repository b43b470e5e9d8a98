/** Programs on this machine can control the sandbox, but other origins' web pages in a browser cannot. */
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';
import { createOverHttp } from './over-http';

let sandbox: Sandbox;
let own: { host: string; origin: string };

beforeAll(async () => {
	sandbox = await startSandbox();
	own = { host: new URL(sandbox.url).host, origin: sandbox.url };
});
afterAll(async () => await sandbox.close());

describe.each([
	['GET', '/'],
	['GET', '/sign-in'],
	['POST', '/sign-in'],
	['GET', '/connected-apps'],
	['POST', '/connected-apps'],
	['GET', '/_sandbox/keys'],
	['POST', '/_sandbox/keys'],
	['POST', '/_sandbox/apps'],
	['POST', '/_sandbox/reset'],
	['POST', '/_sandbox/faults'],
	['DELETE', '/_sandbox/faults'],
	['GET', '/mcp'],
	['POST', '/mcp'],
	['POST', '/mcp/'],
	['DELETE', '/mcp'],
])('%s %s', (method, path) => {
	const status = async (headers: Record<string, string>) =>
		(await http.request({ url: `${sandbox.url}${path}`, method, headers })).status;

	it.each(['https://evil.example', 'null', 'http://127.0.0.1:1', 'http://localhost', 'nonsense'])(
		'rejects a page of %s',
		async (origin) => {
			expect(await status({ ...own, origin })).toBe(403);
		},
	);

	it('rejects a foreign host name that resolves to this machine', async () => {
		const { port } = new URL(sandbox.url);
		for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example', '%']) {
			expect(await status({ host })).toBe(403);
			expect(await status({ host, origin: `http://${host}` })).toBe(403);
		}
	});

	it('accepts our own pages, and programs, which send no origin', async () => {
		const { port } = new URL(sandbox.url);
		const localhost = `localhost:${port}`;
		for (const headers of [
			own,
			{ host: own.host },
			{ host: localhost },
			{ host: localhost, origin: `http://${localhost}` },
		]) {
			expect(await status(headers)).not.toBe(403);
		}
	});
});

it('explains a rejected request, and does not execute it', async () => {
	await createOverHttp(sandbox);
	const headers = { origin: 'https://evil.example' };
	const refused = await http.post(`${sandbox.url}/_sandbox/reset`, undefined, { headers });
	expect([refused.status, refused.data]).toEqual([
		403,
		expect.stringContaining('Nothing was changed'),
	]);
	expect(sandbox.books.totals.created).toBe(1);
});

it('rejects a request before reading its body', async () => {
	const headers = { host: 'evil.example', 'content-length': '9', connection: 'close' };
	const { status } = await http.post(`${sandbox.url}/_sandbox/reset`, undefined, { headers });
	expect(status).toBe(403);
});

describe.each([
	['GET', '/authorize'],
	['POST', '/token'],
	['POST', '/register'],
	['POST', '/revoke'],
	['GET', '/.well-known/oauth-authorization-server'],
	['GET', '/.well-known/oauth-protected-resource/mcp'],
	['GET', '/.well-known/oauth-protected-resource/mcp/'],
])('%s %s, which apps in a browser can use', (method, path) => {
	const status = async (headers: Record<string, string>) =>
		(await http.request({ url: `${sandbox.url}${path}`, method, headers })).status;

	it('rejects a foreign host name', async () => {
		expect(await status({ host: 'evil.example' })).toBe(403);
	});

	it('accepts an app of any origin', async () => {
		expect(await status({ ...own, origin: 'https://inspector.example' })).not.toBe(403);
	});
});

it('the connector rejects an agent with a key under a foreign host name (DNS rebinding)', async () => {
	const headers = { authorization: `Bearer ${sandbox.keys.main}` };
	const status = async (more: Record<string, string>) =>
		(await http.get(`${sandbox.url}/mcp`, { headers: { ...headers, ...more } })).status;
	expect(await status(own)).toBe(405);
	expect(await status({ host: 'evil.example' })).toBe(403);
	expect(await status({ ...own, origin: 'https://evil.example' })).toBe(403);
});

it('accepts requests to the service with a key under any host name', async () => {
	const headers = {
		host: 'host.docker.internal:8787',
		origin: 'https://n8n.example',
		authorization: `Bearer ${sandbox.keys.main}`,
	};
	expect((await http.get(`${sandbox.url}/v1/models`, { headers })).status).toBe(200);
});
