/** Texts that are valid JSON, or nearly, and that no one expects. */
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { getBytes, http } from '../../tools/http';
import { createOverHttp, send } from './over-http';

let sandbox: Sandbox;

beforeAll(async () => (sandbox = await startSandbox()));
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());

const images = '/v1/images/generations';
const picture = { model: 'lumen-turbo', prompt: 'A boat', size: '128x128' };
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const withDeepField = (depth: number) =>
	JSON.stringify(picture).replace('{', `{"extra":${nested(depth)},`);

async function post(path: string, body: string | Buffer, type = 'application/json') {
	const authorization = `Bearer ${sandbox.keys.main}`;
	const accept = 'application/json, text/event-stream';
	const headers = { authorization, accept, 'content-type': type };
	const { status, data } = await http.post<unknown>(`${sandbox.url}${path}`, body, { headers });
	return { status, data };
}

const invalid = { status: 400, data: { error: { code: 'invalid_request', param: null } } };

/** The control interface can still show everything. */
async function expectBooks(created: number): Promise<void> {
	const { status, data } = await send(sandbox, '/_sandbox/books');
	expect([status, data]).toEqual([200, expect.objectContaining({ totals: expect.anything() })]);
	expect(sandbox.books.totals.created).toBe(created);
}

async function callTool(name: string, args: string) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
	return await post('/mcp', call);
}

describe('a prompt', () => {
	it.each([
		['a NUL', 'A \u0000 boat'],
		['only control characters besides a word', '\u0001\u0007\u001b[31mboat\u009f'],
		['a lone surrogate', 'A \ud800 boat'],
		['a lone surrogate at its end', `${'A boat '.repeat(20)}\udc00`],
		['long words of emoji', '🚤'.repeat(400)],
	])('with %s gets its picture and its video', async (_what, prompt) => {
		const videos = { model: 'lumen-loop', prompt, duration: 0.1, resolution: '480p' };
		const made = [
			await createOverHttp(sandbox, { prompt: `${prompt}[seconds: 60000]` }),
			(
				await send(sandbox, '/v1/videos/generations', {
					...videos,
					prompt: `${prompt}[seconds: 60000]`,
				})
			).data as { id: string; data: Array<{ url: string }> },
		];
		for (const { id, data } of made) {
			sandbox.service.finish(id);
			const { status, data: bytes } = await getBytes(data[0].url);
			expect([status, bytes.length > 100]).toEqual([200, true]);
		}
		expect(sandbox.books.generations[0].prompt).toBe(`${prompt}[seconds: 60000]`);
		await expectBooks(2);
		expect((await http.get(`${sandbox.url}/`)).status).toBe(200);
	});
});

describe('an ID', () => {
	it.each(['\\ud800', '\\udfff', '\\u0000', 'a/b', '..', '%', '%ff'])(
		'that cannot exist is unknown to the connector: %s',
		async (id) => {
			for (const tool of ['check_generation', 'get_generation_details']) {
				const { data } = await callTool(tool, `{"id":"${id}"}`);
				const { result } = data as { result: { isError: boolean; content: [{ text: string }] } };
				expect(result.isError).toBe(true);
				expect(JSON.parse(result.content[0].text)).toMatchObject({
					error: { code: 'generation_not_found' },
				});
			}
		},
	);
});

describe('a body that is nested deeply', () => {
	it.each([5_000, 200_000])(
		'is a 400 at the service, and nothing is charged: %d',
		async (depth) => {
			expect(await post(images, withDeepField(depth))).toMatchObject(invalid);
			await expectBooks(0);
		},
	);

	it('is accepted if it is nested as other APIs nest', async () => {
		expect((await post(images, withDeepField(50))).status).toBe(200);
		await expectBooks(1);
	});

	it('is not mistaken for one that has brackets in its texts', async () => {
		const prompt = `${'['.repeat(5_000)} "\\" ${'{'.repeat(5_000)}`;
		expect((await post(images, JSON.stringify({ ...picture, prompt }))).status).toBe(200);
		await expectBooks(1);
	});

	it('is a 400 at the connector, and nothing is charged', async () => {
		const args = withDeepField(5_000).replace('{', '{"type":"image",');
		expect(await callTool('create_generation', args)).toEqual({
			status: 400,
			data: {
				jsonrpc: '2.0',
				id: null,
				error: { code: -32700, message: expect.stringContaining('nested') },
			},
		});
		await expectBooks(0);
	});

	it('is a 400 at the control interface, which can still be read', async () => {
		const order = `{"on":"any","action":{"kind":"respond","status":200,"body":${nested(5_000)}}}`;
		expect((await post('/_sandbox/faults', order)).status).toBe(400);
		expect((await send(sandbox, '/_sandbox/faults')).data).toEqual([]);
	});
});

describe('a body that is not UTF-8', () => {
	const latin1 = Buffer.from(JSON.stringify({ ...picture, prompt: 'Caf\u00e9' }), 'latin1');
	const utf16 = Buffer.from(JSON.stringify(picture), 'utf16le');

	it.each([
		['Latin 1', latin1],
		['UTF-16', utf16],
		[
			'a truncated character',
			Buffer.from(JSON.stringify(picture).replace('boat', 'é')).fill(0x20, 46, 47),
		],
	])('is a 400, and nothing is charged: %s', async (_what, body) => {
		expect((await post(images, body)).status).toBe(400);
		await expectBooks(0);
	});

	it('says so', async () => {
		const { data } = await post(images, latin1);
		expect(data).toMatchObject({ error: { message: 'The body is not valid UTF-8.' } });
		expect(sandbox.requests.on('create')).toMatchObject([{ status: 400, generationId: null }]);
	});

	it('is a 400 at the connector, and nothing is charged', async () => {
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_generation","arguments":${JSON.stringify({ type: 'image', ...picture, prompt: 'Caf\u00e9' })}}}`;
		const { status, data } = await post('/mcp', Buffer.from(call, 'latin1'));
		expect([status, data]).toMatchObject([400, { error: { code: -32700 } }]);
		await expectBooks(0);
	});

	it('is read without its byte order mark if it is UTF-8', async () => {
		expect((await post(images, Buffer.from(`\ufeff${JSON.stringify(picture)}`))).status).toBe(200);
		expect(sandbox.books.generations[0].prompt).toBe('A boat');
	});
});

it('a model cannot forge a line of the log with its ID', async () => {
	const lines: string[] = [];
	const logged = await startSandbox({ log: (line) => lines.push(line) });
	try {
		const model = 'x\n12:00:00  POST  /v1  200\u001b[2K';
		await send(logged, images, { ...picture, model });
		expect(lines).toHaveLength(1);
		expect(lines[0]).not.toMatch(/\p{Cc}/u);
	} finally {
		await logged.close();
	}
});
