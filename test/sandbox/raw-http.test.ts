/** Requests that no HTTP client sends, written to the connection byte by byte. */
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { holdSleep } from './over-http';
import { rawRequest, sendRaw } from './raw-http';

let sandbox: Sandbox;

beforeAll(async () => (sandbox = await startSandbox()));
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());
afterEach(() => jest.restoreAllMocks());

const path = '/v1/images/generations';
const picture = (prompt: string) =>
	JSON.stringify({ model: 'lumen-turbo', prompt, size: '128x128' });
const create = (prompt: string, headers: string[] = []) =>
	rawRequest('POST', path, sandbox.keys.main, { body: picture(prompt), headers });
const read = (target: string, headers: string[] = []) =>
	rawRequest('GET', target, sandbox.keys.main, { headers });
const raw = async (bytes: string, count?: number) => await sendRaw(sandbox.url, bytes, count);
const charged = () => sandbox.books.generations.map(({ prompt }) => prompt);
const errorIn = (body: string) =>
	(JSON.parse(body) as { error: { code: string; type: string; message: string; param: null } })
		.error;

describe('several requests in one write (pipelining)', () => {
	it('are all answered in order, and each creation is answered once', async () => {
		const answers = await raw(create('one') + read('/v1/models') + create('two'), 3);
		expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
		const ids = [answers[0], answers[2]].map(({ body }) => (JSON.parse(body) as { id: string }).id);
		expect(sandbox.books.generations.map(({ id }) => id)).toEqual(ids);
		expect(answers[1].body).toContain('"object":"list"');
		expect(sandbox.requests.all.map(({ answered }) => answered)).toEqual([true, true, true]);
	});

	it('wait for each other: a delayed request is answered before the next is executed', async () => {
		const sleep = holdSleep();
		sandbox.faults.order({ on: 'create', action: { kind: 'delay', ms: 1000 } });
		const asked = raw(create('slow') + create('next'), 2);
		await sleep.began;
		for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
		expect(charged()).toEqual(['slow']);
		sleep.end();
		expect((await asked).map(({ status }) => status)).toEqual([200, 200]);
		expect(charged()).toEqual(['slow', 'next']);
	});

	it('after the last one that the client announced are not executed', async () => {
		const answers = await raw(create('last', ['Connection: close']) + create('too late'));
		expect(answers.map(({ status }) => status)).toEqual([200]);
		expect(charged()).toEqual(['last']);
	});

	it('are not executed after a response that a fault loses', async () => {
		sandbox.faults.order({ on: 'create', skip: 1, action: { kind: 'loseAnswer' } });
		// The reset can arrive before the client has read the first response.
		await raw(create('kept') + create('lost') + create('too late')).catch(() => undefined);
		expect(charged()).toEqual(['kept', 'lost']);
		expect(sandbox.requests.all.map(({ answered }) => answered)).toEqual([true, false]);
	});

	it('are answered before a malformed one is rejected', async () => {
		const sleep = holdSleep();
		sandbox.faults.order({ on: 'create', action: { kind: 'delay', ms: 1000 } });
		const asked = raw(`${create('good')}nonsense\r\n\r\n`);
		await sleep.began;
		sleep.end();
		const answers = await asked;
		expect(answers.map(({ status }) => status)).toEqual([200, 400]);
		expect(errorIn(answers[1].body).code).toBe('invalid_request');
		expect(charged()).toEqual(['good']);
	});
});

describe('the target of a request', () => {
	it.each(['//', '//evil.example/v1/models', '*'])(
		'that does not exist is a 404 with a body: %s',
		async (target) => {
			const method = target === '*' ? 'OPTIONS' : 'GET';
			const [{ status, body }] = await raw(rawRequest(method, target, sandbox.keys.main), 1);
			expect([status, errorIn(body).code]).toEqual([404, 'not_found']);
		},
	);

	it('can be an absolute URL (RFC 9112, 3.2.2)', async () => {
		const [models] = await raw(read('http://127.0.0.1/v1/models?type=video'), 1);
		expect([models.status, models.body.match(/"type":"video"/g)?.length]).toEqual([200, 9]);
		const target = `http://127.0.0.1${path}`;
		const bytes = rawRequest('POST', target, sandbox.keys.main, { body: picture('absolute') });
		expect((await raw(bytes, 1))[0].status).toBe(200);
		expect(charged()).toEqual(['absolute']);
	});

	it('as an absolute URL decides the host, not the header Host', async () => {
		const status = async (target: string, host: string) =>
			(await raw(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 1))[0].status;
		expect(await status('http://evil.example/_sandbox/keys', '127.0.0.1')).toBe(403);
		expect(await status('http://127.0.0.1/_sandbox/keys', 'evil.example')).toBe(200);
	});

	it.each(['http://[', 'ftp://127.0.0.1/v1/models'])(
		'that is no usable URL is a 400 with a body: %s',
		async (target) => {
			const [{ status, body, headers }] = await raw(read(target), 1);
			expect([status, errorIn(body).code]).toEqual([400, 'invalid_request']);
			expect(headers).toContain('application/json');
		},
	);
});

describe('a request that is not HTTP', () => {
	const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n';

	it.each<[string, string, number]>([
		['no request at all', 'nonsense\r\n\r\n', 400],
		['no Host', 'GET /v1/models HTTP/1.1\r\n\r\n', 400],
		['two lengths', `${post}Content-Length: 2\r\n\r\n`, 400],
		['too large headers', `${post}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
		['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 400],
	])('is rejected with a body, and the connection is closed: %s', async (_what, bytes, status) => {
		const answers = await raw(bytes);
		expect(answers.map((answer) => answer.status)).toEqual([status]);
		expect(errorIn(answers[0].body)).toEqual({
			code: 'invalid_request',
			type: 'invalid_request',
			message: expect.stringMatching(/\.$/),
			param: null,
		});
		expect(answers[0].headers).toContain('connection: close');
	});

	it('in its body is rejected with a body, and nothing is charged', async () => {
		const body = `zz\r\n${picture('broken')}\r\n0\r\n\r\n`;
		const head = create('x')
			.split('\r\n')
			.filter((line) => !/^content-length/i.test(line));
		const bytes = `${head.slice(0, -2).join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;
		const answers = await raw(bytes);
		expect(answers.map(({ status }) => status)).toEqual([400]);
		expect(errorIn(answers[0].body).code).toBe('invalid_request');
		expect(charged()).toEqual([]);
	});
});
