/** The connector for agents that speak the protocol revision 2026-07-28, which has no `initialize` and no sessions. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';

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
