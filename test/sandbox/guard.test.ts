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

const asker = (method: string, path: string) => async (headers: Record<string, string>) =>
	(await http.request({ url: `${sandbox.url}${path}`, method, headers })).status;

const foreign = [
	'https://evil.example',
	'null',
	'http://127.0.0.1:1',
	'http://localhost',
	'nonsense',
];

it.each([
	['GET', '/'],
	['POST', '/sign-in'],
	['POST', '/connected-apps'],
	['GET', '/_sandbox/keys'],
	['POST', '/_sandbox/reset'],
	['DELETE', '/_sandbox/faults'],
	['GET', '/mcp'],
	['POST', '/mcp/'],
])('%s %s rejects other pages and foreign host names, not programs', async (method, path) => {
	const status = asker(method, path);
	const { port } = new URL(sandbox.url);
	for (const origin of foreign) expect(await status({ ...own, origin })).toBe(403);
	for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example', '%']) {
		expect(await status({ host })).toBe(403);
		expect(await status({ host, origin: `http://${host}` })).toBe(403);
	}
	const localhost = { host: `localhost:${port}` };
	const ours = { ...localhost, origin: `http://localhost:${port}` };
	for (const headers of [own, { host: own.host }, localhost, ours]) {
		expect(await status(headers)).not.toBe(403);
	}
});

it('explains a rejected request, and neither reads its body nor executes it', async () => {
	await createOverHttp(sandbox);
	const headers = { origin: 'https://evil.example', 'content-length': '9', connection: 'close' };
	const { status, data } = await http.post(`${sandbox.url}/_sandbox/reset`, undefined, { headers });
	expect([status, data]).toEqual([403, expect.stringContaining('Nothing was changed')]);
	expect(sandbox.books.totals.created).toBe(1);
});

it.each([
	['GET', '/authorize'],
	['POST', '/token'],
	['POST', '/register'],
	['GET', '/.well-known/oauth-authorization-server'],
	['GET', '/.well-known/oauth-protected-resource/mcp'],
])('%s %s accepts an app of any origin, but no foreign host name', async (method, path) => {
	const status = asker(method, path);
	expect(await status({ host: 'evil.example' })).toBe(403);
	expect(await status({ ...own, origin: 'https://inspector.example' })).not.toBe(403);
});

it('a key does not open the connector under a foreign host name, but opens the service', async () => {
	const authorization = `Bearer ${sandbox.keys.main}`;
	expect(await asker('GET', '/mcp')({ ...own, authorization })).toBe(405);
	expect(await asker('GET', '/mcp')({ host: 'evil.example', authorization })).toBe(403);
	const docker = {
		host: 'host.docker.internal:8787',
		origin: 'https://n8n.example',
		authorization,
	};
	expect(await asker('GET', '/v1/models')(docker)).toBe(200);
});
