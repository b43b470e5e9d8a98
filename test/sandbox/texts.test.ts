/** Texts that are valid JSON, or nearly, and that no one expects. */
import type { GenerationEntry } from '../../sandbox/generations/generations';
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
		['a lone surrogate', 'A \ud800 boat'],
		['long words of emoji', '🚤'.repeat(400)],
	])('with %s gets its picture and its video', async (_what, text) => {
		const prompt = `${text}[seconds: 60000]`;
		const film = { model: 'lumen-loop', prompt, duration: 0.1, resolution: '480p' };
		const made = [
			await createOverHttp(sandbox, { prompt }),
			(await send<GenerationEntry>(sandbox, '/v1/videos/generations', film)).data,
		];
		for (const { id, data } of made) {
			sandbox.service.finish(id);
			const { status, data: bytes } = await getBytes(data[0].url);
			expect([status, bytes.length > 100]).toEqual([200, true]);
		}
		await expectBooks(2);
		expect((await http.get(`${sandbox.url}/`)).status).toBe(200);
	});
});

describe('an ID', () => {
	it.each(['\\ud800', '\\u0000', '..', '%ff'])(
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
	it('is a 400 at the service, and nothing is charged', async () => {
		expect(await post(images, withDeepField(200_000))).toMatchObject(invalid);
		await expectBooks(0);
	});

	it('is accepted if it is nested as other APIs nest, or has brackets in its texts', async () => {
		expect((await post(images, withDeepField(50))).status).toBe(200);
		const prompt = `${'['.repeat(5_000)} "\\" ${'{'.repeat(5_000)}`;
		expect((await post(images, JSON.stringify({ ...picture, prompt }))).status).toBe(200);
		await expectBooks(2);
	});

	it('is a 400 at the connector, and nothing is charged', async () => {
		const args = withDeepField(5_000).replace('{', '{"type":"image",');
		expect(await callTool('create_generation', args)).toMatchObject({
			status: 400,
			data: { error: { code: -32700, message: expect.stringContaining('nested') } },
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

	it.each([
		['Latin 1', latin1, 'The body is not valid UTF-8.'],
		['UTF-16', Buffer.from(JSON.stringify(picture), 'utf16le'), 'The body is not valid JSON.'],
	])('is a 400, and nothing is charged: %s', async (_what, body, message) => {
		expect(await post(images, body)).toMatchObject({ status: 400, data: { error: { message } } });
		await expectBooks(0);
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
