import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';

let sandbox: Sandbox;

beforeAll(async () => (sandbox = await startSandbox()));
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());

const boat = { type: 'image', model: 'lumen-turbo', prompt: 'A boat', size: '128x128' };
const create = (id: unknown) => ({
	...{ jsonrpc: '2.0', id, method: 'tools/call' },
	params: { name: 'create_generation', arguments: boat },
});
const cancel = (requestId: unknown) => ({
	...{ jsonrpc: '2.0', method: 'notifications/cancelled' },
	params: { requestId },
});

async function send(batch: unknown) {
	const headers = {
		authorization: `Bearer ${sandbox.keys.main}`,
		accept: 'application/json, text/event-stream',
	};
	return await http.post<unknown>(`${sandbox.url}/mcp`, batch, { headers, timeout: 2_000 });
}

describe('a batch of an agent', () => {
	it.each<[string, unknown[]]>([
		['cancels one of its requests', [create(1), cancel(1)]],
		['cancels a request before it', [cancel('a'), create('a'), create('b')]],
		['repeats an ID', [create(1), create(2), create(1)]],
	])('that %s is rejected at no charge', async (_, batch) => {
		const { status, data } = await send(batch);
		const message = expect.stringMatching(/^Invalid request: .*batch/) as string;
		expect(status).toBe(400);
		expect(data).toEqual({ jsonrpc: '2.0', id: null, error: { code: -32600, message } });
		expect(sandbox.books.totals.created).toBe(0);
	});

	it('is answered if it cancels another request, or its IDs differ in their type', async () => {
		const { status, data } = await send([create(1), create('1'), cancel(2), cancel(undefined)]);
		expect(status).toBe(200);
		expect(data).toMatchObject([{ id: 1 }, { id: '1' }]);
		expect(sandbox.books.totals.created).toBe(2);
	});

	it('of notifications alone is accepted', async () => {
		expect((await send([cancel(1), cancel(1)])).status).toBe(202);
	});
});
