/** The connector for agents that speak the protocol revision 2026-07-28, which has no `initialize` and no sessions. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';

const revision = '2026-07-28';
const boat = { type: 'image', model: 'aurora-image-1', prompt: 'A paper boat', size: '128x128' };

let sandbox: Sandbox;
let client: Client;

beforeAll(async () => (sandbox = await startSandbox()));
afterAll(async () => await sandbox.close());
beforeEach(async () => {
	sandbox.reset();
	client = new Client(
		{ name: 'test', version: '1.0.0' },
		{ versionNegotiation: { mode: { pin: revision } } },
	);
	const headers = { authorization: `Bearer ${sandbox.keys.main}` };
	const url = new URL(`${sandbox.url}/mcp`);
	await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
});
afterEach(async () => await client.close());

async function call(name: string, args: Record<string, unknown> = {}) {
	const { content, isError } = await client.callTool({ name, arguments: args });
	const [first] = content;
	if (first.type !== 'text') throw new Error('Not a text');
	return { isError, body: JSON.parse(first.text) as Record<string, unknown> };
}

it('speaks that revision, and tells how to use it', async () => {
	expect(client.getNegotiatedProtocolVersion()).toBe(revision);
	expect(client.getInstructions()).toContain('credits');
	expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
		'list_models',
		'create_generation',
		'check_generation',
		'get_generation_details',
		'list_library',
		'get_balance',
	]);
});

it('creates, checks and lists, and charges once', async () => {
	const { isError, body } = await call('create_generation', boat);
	expect([isError, body.status]).toEqual([false, 'pending']);
	const id = String(body.id);
	sandbox.service.finish(id);
	expect((await call('check_generation', { id })).body.status).toBe('completed');
	expect((await call('list_library')).body).toMatchObject({ data: [{ id }] });
	expect((await call('get_balance')).body.balance).toBe(99_992);
	expect(sandbox.books.totals.created).toBe(1);
});

it('rejects as it does in older revisions', async () => {
	expect(await call('create_generation', { ...boat, model: 'nothing' })).toMatchObject({
		isError: true,
		body: { error: { code: 'model_not_found' } },
	});
	await expect(call('paint')).rejects.toThrow('Unknown tool: paint');
	sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });
	await expect(call('create_generation', boat)).rejects.toThrow('did not answer');
	sandbox.service.accounts.keyOf('main').state = 'revoked';
	await expect(call('get_balance')).rejects.toThrow();
});

it('has no events, and says so instead of leaving a stream open', async () => {
	const meta = {
		'io.modelcontextprotocol/protocolVersion': revision,
		'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
		'io.modelcontextprotocol/clientCapabilities': {},
	};
	const params = { notifications: { toolsListChanged: true }, _meta: meta };
	const body = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params };
	const { status, data } = await http.post<unknown>(`${sandbox.url}/mcp`, body, {
		headers: {
			authorization: `Bearer ${sandbox.keys.main}`,
			accept: 'application/json, text/event-stream',
			'mcp-protocol-version': revision,
			'mcp-method': 'subscriptions/listen',
		},
		timeout: 5000,
	});
	expect([status, data]).toEqual([200, expect.objectContaining({ error: expect.anything() })]);
});
