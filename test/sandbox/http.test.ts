import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { getBytes, http } from '../../tools/http';
import { createOverHttp, finishedOverHttp, lookOverHttp } from './over-http';
import { VirtualClock } from './virtual';

let sandbox: Sandbox;
const clock = new VirtualClock();
const lines: string[] = [];

beforeAll(async () => {
	const log = (line: string): void => void lines.push(line);
	sandbox = await startSandbox({ clock, generationSeconds: 10, log });
});
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());

describe('the service over HTTP', () => {
	it('creates a generation, reports its status, and serves the file from another origin', async () => {
		const { id, url } = await finishedOverHttp(sandbox);
		expect(new URL(url).origin).toBe(sandbox.storageUrl);
		expect(sandbox.storageUrl).not.toBe(sandbox.url);
		const { status, headers, data } = await getBytes(url);
		expect(status).toBe(200);
		expect(headers['content-type']).toBe('image/png');
		expect(headers['content-length']).toBe(String(data.length));
		expect(data.subarray(1, 4).toString()).toBe('PNG');
		expect(sandbox.books.find(id)).toMatchObject({ state: 'completed', charged: 1 });
		expect(lines.some((line) => /POST .*200 .*charged 1, main has 99999 left/.test(line))).toBe(
			true,
		);
	});

	it('responds with its own errors to a body that is not JSON or is too large', async () => {
		const headers = { authorization: `Bearer ${sandbox.keys.main}` };
		const post = async (body: Buffer) =>
			await http.post(`${sandbox.url}/v1/images/generations`, body, { headers });
		const { data: refusal } = await post(Buffer.from('{'));
		expect(refusal).toMatchObject({ error: { code: 'invalid_request' } });
		const { status, data } = await post(Buffer.alloc(65 * 1024 * 1024));
		expect([status, data]).toMatchObject([413, { error: { code: 'payload_too_large' } }]);
	});

	it('sends no rate-limit headers', async () => {
		const { headers } = await http.get(`${sandbox.url}/v1/models`);
		expect(Object.keys(headers).filter((name) => /rate|retry/i.test(name))).toEqual([]);
	});
});

describe('the storage over HTTP', () => {
	it('rejects HEAD with 403', async () => {
		const { url } = await finishedOverHttp(sandbox);
		expect((await http.head(url)).status).toBe(403);
	});

	it('responds to the one-byte probe with 200 and one byte', async () => {
		const pending = await createOverHttp(sandbox, { prompt: 'x [seconds: 60000]' });
		const headers = { range: 'bytes=0-0' };
		const probe = async () => await getBytes(pending.data[0].url, { headers });
		expect((await probe()).status).toBe(404);
		sandbox.service.finish(pending.id);
		const ready = await probe();
		expect(ready.status).toBe(200);
		expect(ready.data).toHaveLength(1);
	});

	it.each([
		['bytes=0-99', 206, 0, 100],
		['bytes=-50', 206, -50, undefined],
		['bytes=500-', 206, 500, undefined],
		['bytes=0-1,5-6', 200, 0, undefined],
	])('serves the range %s', async (range, status, start, end) => {
		const { url } = await finishedOverHttp(sandbox);
		const { data: whole } = await getBytes(url);
		const part = await getBytes(url, { headers: { range } });
		expect(part.status).toBe(status);
		expect(part.data.equals(whole.subarray(start, end))).toBe(true);
	});

	it('rejects and records a key that is sent to the storage', async () => {
		const { url } = await finishedOverHttp(sandbox);
		const headers = { authorization: `Bearer ${sandbox.keys.main}` };
		expect((await http.get(url, { headers })).status).toBe(400);
		expect(sandbox.requests.keysAtStorage).toMatchObject([{ on: 'download', status: 400 }]);
	});
});

describe('the control interface over HTTP', () => {
	const steering = (name: string) => `${sandbox.url}/_sandbox/${name}`;
	const post = async (name: string, body: unknown) => await http.post(steering(name), body);
	const get = async (name: string) => (await http.get<unknown>(steering(name))).data;

	it('shows books and requests', async () => {
		const { id } = await createOverHttp(sandbox);
		expect(await get('books')).toMatchObject({ generations: [{ id }], totals: { created: 1 } });
		expect(await get('requests')).toMatchObject([{ on: 'create', generationId: id }]);
	});

	it('orders faults, and rejects invalid orders', async () => {
		const order = { on: 'models', action: { kind: 'error', code: 'server_error' } };
		expect((await post('faults', [order, order])).data).toEqual([order, order]);
		expect((await http.get(`${sandbox.url}/v1/models`)).status).toBe(500);
		expect((await post('faults', { on: 'models', action: { kind: 'rain' } })).status).toBe(400);
		await http.delete(steering('faults'));
		expect(await get('faults')).toEqual([]);
	});

	it('sets load, credits and keys, ends generations, and resets', async () => {
		await post('occupy', { account: 'main', count: 10 });
		await expect(createOverHttp(sandbox)).rejects.toThrow('429');
		await post('occupy', { account: 'main', count: 0 });
		await post('accounts', { account: 'main', credits: 1 });
		const { id } = await createOverHttp(sandbox, { prompt: 'x [seconds: 60000]' });
		await expect(createOverHttp(sandbox)).rejects.toThrow('402');
		await post('finish', { id, failReason: 'pulled' });
		expect(await lookOverHttp(sandbox, id)).toMatchObject({ status: 'failed' });
		await post('keys', { key: 'main', state: 'revoked' });
		await expect(createOverHttp(sandbox)).rejects.toThrow('401');
		expect((await post('occupy', { account: 'nobody', count: 1 })).status).toBe(400);
		await post('reset', {});
		await createOverHttp(sandbox, { prompt: 'x [seconds: 60000]' });
		expect(await get('accounts')).toContainEqual(
			expect.objectContaining({ name: 'main', balance: 99_999, running: 1 }),
		);
	});
});

describe('closing', () => {
	it('closes hanging connections and frees the port', async () => {
		const other = await startSandbox();
		other.faults.order({ on: 'any', action: { kind: 'hang' } });
		const asked = http.get(`${other.url}/v1/models`);
		const hanging = expect(asked).rejects.toMatchObject({ code: 'ECONNRESET' });
		while (other.requests.all.length === 0) await new Promise(setImmediate);
		await other.close();
		await hanging;
		const port = Number(new URL(other.url).port);
		const again = await startSandbox({ port });
		await expect(startSandbox({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
		await again.close();
	});
});

describe('a service that is unavailable', () => {
	it('breaks open requests, refuses connections, and returns on the same port', async () => {
		sandbox.faults.order({ on: 'create', action: { kind: 'hang', work: true } });
		const broken = expect(createOverHttp(sandbox)).rejects.toMatchObject({ code: 'ECONNRESET' });
		while (sandbox.books.totals.created === 0) await new Promise(setImmediate);
		const comeBack = await sandbox.leave();
		await broken;
		await expect(createOverHttp(sandbox)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
		await comeBack();
		await createOverHttp(sandbox);
		expect(sandbox.books.totals.created).toBe(2);
	});
});
