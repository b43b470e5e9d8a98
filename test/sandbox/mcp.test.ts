import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { KeyName } from '../../sandbox/accounts/accounts';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';

let sandbox: Sandbox;
let client: Client;

beforeAll(async () => {
	sandbox = await startSandbox();
	client = await connected();
});
afterAll(async () => {
	await client.close();
	await sandbox.close();
});
beforeEach(() => sandbox.reset());

/** The SDK's own client, as an agent uses it. */
async function connected(key: KeyName = 'main'): Promise<Client> {
	const agent = new Client({ name: 'test', version: '1.0.0' });
	const headers = { authorization: `Bearer ${sandbox.keys[key]}` };
	const url = new URL(`${sandbox.url}/mcp`);
	await agent.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
	return agent;
}

interface Answer {
	failed: boolean;
	body: Record<string, unknown>;
}

async function call(name: string, args: object = {}, agent = client): Promise<Answer> {
	const result = (await agent.callTool({ name, arguments: { ...args } })) as CallToolResult;
	const [content] = result.content;
	if (content.type !== 'text') throw new Error('Not a text');
	const body = JSON.parse(content.text) as Answer['body'];
	return { failed: result.isError === true, body };
}

const boat = { type: 'image', model: 'lumen-turbo', prompt: 'A paper boat', size: '128x128' };

async function finished(args: object = {}): Promise<string> {
	const { body } = await call('create_generation', { ...boat, ...args });
	const id = String(body.id);
	sandbox.service.finish(id);
	return id;
}

describe('the connector for agents (spec 1.6)', () => {
	it('has six tools with a description of their arguments', async () => {
		const { tools } = await client.listTools();
		expect(tools.map(({ name }) => name)).toEqual([
			'list_models',
			'create_generation',
			'check_generation',
			'get_generation_details',
			'list_library',
			'get_balance',
		]);
		for (const { description, inputSchema } of tools) {
			expect(description).toMatch(/\.$/);
			expect(inputSchema.type).toBe('object');
		}
		expect(client.getServerCapabilities()).toEqual({ tools: {} });
		expect(client.getInstructions()).toContain('credits');
	});

	it('creates a picture, charges it, and shows its progress', async () => {
		const made = await call('create_generation', {
			...boat,
			model: 'aurora-image-1',
			seed: 7,
			aspect_ratio: '1:1',
			negative_prompt: 'text',
		});
		expect(made).toMatchObject({ failed: false, body: { status: 'pending', type: 'image' } });
		const [entry] = sandbox.books.generations;
		expect(entry).toMatchObject({
			key: 'main',
			charged: 8,
			request: { parameters: { seed: 7, aspect_ratio: '1:1', negative_prompt: 'text' } },
		});
		expect((await call('get_balance')).body).toMatchObject({ balance: 99_992 });

		sandbox.service.finish(entry.id);
		const checked = await call('check_generation', { id: entry.id });
		expect(checked.body).toMatchObject({ id: entry.id, status: 'completed' });
		const [{ url }] = checked.body.data as Array<{ url: string }>;
		expect((await http.get(url)).headers['content-type']).toBe('image/png');
	});

	it('shows the request and the charge, and shortens inline files', async () => {
		const value = `data:image/png;base64,${'A'.repeat(4000)}`;
		const inputs = [{ type: 'image', source: 'data', value }];
		const id = await finished({ model: 'aurora-image-1', inputs });
		const { body } = await call('get_generation_details', { id });
		expect(body).toMatchObject({
			id,
			status: 'completed',
			prompt: 'A paper boat',
			credits_charged: 8,
			credits_refunded: 0,
			request: { inputs: [{ value: 'data:image/png;base64,…' }] },
		});
	});

	it('lists the library of the account, newest first, in pages', async () => {
		const ids = [await finished(), await finished(), await finished({ prompt: 'The third' })];
		await call('create_generation', boat);
		const first = await call('list_library', { limit: 2, type: 'image' });
		const entries = first.body.data as Array<{ id: string; prompt: string; url: string }>;
		expect(entries.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
		expect(entries[0]).toMatchObject({ prompt: 'The third', credits: 1, type: 'image' });
		expect(first.body.has_more).toBe(true);
		expect((await http.get(entries[0].url)).status).toBe(200);

		const second = await call('list_library', { limit: 2, after: ids[1] });
		expect(second.body).toMatchObject({ data: [{ id: ids[0] }], has_more: false });
		expect((await call('list_library', { type: 'video' })).body.data).toEqual([]);
		for (const args of [{ limit: 0 }, { type: 'sound' }, { after: 'nothing' }]) {
			expect((await call('list_library', args)).failed).toBe(true);
		}
	});

	it('keeps accounts apart', async () => {
		const id = await finished();
		const other = await connected('pro');
		expect((await call('list_library', {}, other)).body.data).toEqual([]);
		for (const tool of ['check_generation', 'get_generation_details']) {
			expect(await call(tool, { id }, other)).toMatchObject({
				failed: true,
				body: { error: { code: 'generation_not_found' } },
			});
		}
		await other.close();
	});
});

describe('errors', () => {
	it.each<[KeyName, object, object]>([
		['main', { model: 'nothing' }, { code: 'model_not_found', param: 'model' }],
		['main', { type: undefined }, { code: 'invalid_request', param: 'type' }],
		['readOnly', {}, { code: 'forbidden' }],
		['empty', {}, { code: 'insufficient_credits' }],
	])('are the text of the result (spec 6.3): %s %j', async (key, args, error) => {
		const agent = await connected(key);
		const answer = await call('create_generation', { ...boat, ...args }, agent);
		expect(answer).toMatchObject({ failed: true, body: { error } });
		expect(sandbox.books.generations).toEqual([]);
		await agent.close();
	});

	it('occur for arguments inside "parameters", which would be dropped', async () => {
		const parameters = { aspect_ratio: '16:9' };
		expect((await call('create_generation', { ...boat, parameters })).body).toMatchObject({
			error: {
				code: 'invalid_parameter',
				param: 'parameters',
				message: expect.stringContaining('aspect_ratio, negative_prompt and seed'),
			},
		});
		expect(sandbox.books.totals.created).toBe(0);
	});

	it('for an invalid key come first, and immediately after a key is revoked', async () => {
		await expect(connected('expired')).rejects.toMatchObject({ code: 401 });
		const agent = await connected('second');
		sandbox.service.accounts.keyOf('second').state = 'revoked';
		await expect(call('get_balance', {}, agent)).rejects.toMatchObject({ code: 401 });
		await agent.close();
	});

	it('also come from the protocol itself', async () => {
		await expect(call('paint')).rejects.toThrow('Unknown tool: paint');
		const headers = { authorization: `Bearer ${sandbox.keys.main}` };
		const url = `${sandbox.url}/mcp`;
		const statuses = [
			await http.get(url),
			await http.get(url, { headers }),
			await http.post(url, 'no JSON', { headers }),
		].map(({ status }) => status);
		expect(statuses).toEqual([401, 405, 400]);
	});
});
