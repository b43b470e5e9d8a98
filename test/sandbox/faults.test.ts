import type { FaultAction } from '../../sandbox/faults';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { createOverHttp, finishedOverHttp, jsonFrom, lookOverHttp, send } from './over-http';

let sandbox: Sandbox;

beforeAll(async () => {
	sandbox = await startSandbox({ generationSeconds: 5, timeScale: 100 });
});
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());

const onCreate = (action: FaultAction): void => sandbox.faults.order({ on: 'create', action });
const onDownload = (action: FaultAction): void => sandbox.faults.order({ on: 'download', action });
async function until(holds: () => boolean): Promise<void> {
	while (!holds()) await new Promise(setImmediate);
}

const image = { model: 'lumen-turbo', prompt: 'A lighthouse', size: '128x128' };

describe('faults at the service', () => {
	it('lose the answer after charging', async () => {
		onCreate({ kind: 'loseAnswer' });
		await expect(createOverHttp(sandbox)).rejects.toThrow('fetch failed');
		expect(sandbox.books.liveChargesFor('A lighthouse')).toBe(1);
		expect(sandbox.requests.all).toMatchObject([{ answered: false, status: null }]);
	});

	it('reset before any work', async () => {
		onCreate({ kind: 'reset' });
		await expect(createOverHttp(sandbox)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
		expect(sandbox.books.totals.created).toBe(0);
	});

	it.each([true, false])('never answer, the work done: %s', async (work) => {
		onCreate({ kind: 'hang', work });
		const options = { method: 'POST', body: JSON.stringify(image) };
		const headers = { authorization: `Bearer ${sandbox.keys.main}` };
		const signal = AbortSignal.timeout(100);
		const asked = fetch(`${sandbox.url}/v1/images/generations`, { ...options, headers, signal });
		await expect(asked).rejects.toThrow('timeout');
		expect(sandbox.books.totals.created).toBe(work ? 1 : 0);
	});

	it('answer late', async () => {
		onCreate({ kind: 'delay', ms: 150 });
		const started = performance.now();
		await createOverHttp(sandbox);
		expect(performance.now() - started).toBeGreaterThan(145);
	});

	it('fail in flight when the key is revoked, the work done', async () => {
		onCreate({ kind: 'delay', ms: 100 });
		const asked = createOverHttp(sandbox);
		const refused = expect(asked).rejects.toThrow('401');
		while (sandbox.books.totals.created === 0) await new Promise(setImmediate);
		sandbox.service.accounts.keyOf('main').state = 'revoked';
		await refused;
		expect(sandbox.requests.all).toMatchObject([{ status: 401, answered: true }]);
	});

	it.each<[string, FaultAction, number, string | null, string]>([
		[
			'HTML',
			{ kind: 'respond', status: 502, body: '<h1>Bad gateway</h1>' },
			502,
			'text/html; charset=utf-8',
			'<h1>Bad gateway</h1>',
		],
		['nothing', { kind: 'respond', status: 503 }, 503, null, ''],
		[
			'any JSON',
			{ kind: 'respond', status: 418, body: { a: 1 } },
			418,
			'application/json; charset=utf-8',
			'{"a":1}',
		],
		[
			'any text',
			{ kind: 'respond', status: 200, body: 'ok', contentType: 'text/plain' },
			200,
			'text/plain',
			'ok',
		],
	])('answer with %s', async (_case, action, status, type, body) => {
		onCreate(action);
		const response = await send(sandbox, '/v1/images/generations', image);
		expect(response.status).toBe(status);
		expect(response.headers.get('content-type')).toBe(type);
		expect(await response.text()).toBe(body);
		expect(sandbox.books.totals.created).toBe(0);
	});

	it('answer 5xx with the charge made', async () => {
		onCreate({ kind: 'respond', status: 504, body: '<h1>Timeout</h1>', work: true });
		expect((await send(sandbox, '/v1/images/generations', image)).status).toBe(504);
		expect(sandbox.books.totals).toMatchObject({ created: 1, charged: 1 });
	});

	it('redirect to another origin', async () => {
		onCreate({ kind: 'redirect', location: 'http://127.0.0.1:9/elsewhere' });
		const response = await send(sandbox, '/v1/images/generations', image);
		expect(response.status).toBe(302);
		expect(response.headers.get('location')).toBe('http://127.0.0.1:9/elsewhere');
	});

	it('make a generation fail', async () => {
		onCreate({ kind: 'fail', reason: 'no paint', asText: true });
		const { id } = await createOverHttp(sandbox, { prompt: 'x' });
		await new Promise((resolve) => setTimeout(resolve, 80));
		expect(await lookOverHttp(sandbox, id)).toMatchObject({ status: 'failed', error: 'no paint' });
	});

	it('wait for their match, skip, and strike so many times', async () => {
		const error = { kind: 'error', code: 'server_error' } as const;
		sandbox.faults.order(
			{ on: 'create', match: { promptIncludes: 'boat' }, skip: 1, times: 2, action: error },
			{ on: 'credits', match: { key: 'second' }, times: 'always', action: error },
		);
		const statuses: number[] = [];
		for (const prompt of ['a boat', 'a cat', 'a boat', 'a boat', 'a boat']) {
			statuses.push((await send(sandbox, '/v1/images/generations', { ...image, prompt })).status);
		}
		expect(statuses).toEqual([200, 200, 500, 500, 200]);
		expect((await send(sandbox, '/v1/credits/balance')).status).toBe(200);
		expect(sandbox.faults.pending).toHaveLength(1);
	});

	it('strike one generation by id', async () => {
		const [first, second] = [await createOverHttp(sandbox), await createOverHttp(sandbox)];
		const action: FaultAction = { kind: 'error', code: 'service_unavailable' };
		sandbox.faults.order({ on: 'status', match: { id: second.id }, action });
		expect(await lookOverHttp(sandbox, first.id)).toMatchObject({ id: first.id });
		await expect(lookOverHttp(sandbox, second.id)).rejects.toThrow('503');
	});

	it('are refused when nothing could come of them', () => {
		const order = { on: 'create', action: { kind: 'rain' } };
		expect(() => sandbox.faults.order(order as never)).toThrow('README');
	});
});

describe('faults at the storage', () => {
	it.each([false, true])('break off in the middle, chunked: %s', async (chunked) => {
		const { url } = await finishedOverHttp(sandbox);
		onDownload({ kind: 'truncate', afterBytes: 500, chunked });
		const response = await fetch(url);
		expect(response.headers.has('content-length')).toBe(!chunked);
		await expect(response.arrayBuffer()).rejects.toThrow('terminated');
		expect((await fetch(url)).status).toBe(200);
	});

	it('stall, and keep the connection open', async () => {
		const { url } = await finishedOverHttp(sandbox);
		onDownload({ kind: 'stall', afterBytes: 500 });
		const response = await fetch(url, { signal: AbortSignal.timeout(200) });
		let bytes = 0;
		const reading = (async () => {
			for await (const chunk of response.body ?? []) bytes += (chunk as Uint8Array).length;
		})();
		await expect(reading).rejects.toThrow('timeout');
		expect(bytes).toBe(500);
	});

	it('expire a URL now', async () => {
		const { url } = await finishedOverHttp(sandbox);
		onDownload({ kind: 'expire' });
		expect((await fetch(url)).status).toBe(403);
		expect((await fetch(url)).status).toBe(200);
	});

	it.each(['application/octet-stream', 'text/plain'])('send the file as %s', async (value) => {
		const { url } = await finishedOverHttp(sandbox);
		onDownload({ kind: 'contentType', value });
		expect((await fetch(url)).headers.get('content-type')).toBe(value);
	});

	it('send the whole file without a length', async () => {
		const { url } = await finishedOverHttp(sandbox);
		const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
		onDownload({ kind: 'noContentLength' });
		const chunked = await fetch(url);
		expect(chunked.headers.has('content-length')).toBe(false);
		expect(Buffer.from(await chunked.arrayBuffer()).equals(whole)).toBe(true);
	});

	it('send a wrong length', async () => {
		const { url } = await finishedOverHttp(sandbox);
		const { length } = Buffer.from(await (await fetch(url)).arrayBuffer());
		onDownload({ kind: 'wrongLength', by: 10 });
		const response = await fetch(url);
		expect(response.headers.get('content-length')).toBe(String(length + 10));
		await expect(response.arrayBuffer()).rejects.toThrow('terminated');
	});

	it.each<[FaultAction, number]>([
		[{ kind: 'redirect', location: 'http://127.0.0.1:9/' }, 302],
		[{ kind: 'respond', status: 503, body: '<Error/>', contentType: 'application/xml' }, 503],
		[{ kind: 'error', code: 'server_error' }, 500],
	])('answer otherwise: %j', async (action, status) => {
		const { url } = await finishedOverHttp(sandbox);
		onDownload(action);
		expect((await fetch(url, { redirect: 'manual' })).status).toBe(status);
	});

	it('reset, or answer late', async () => {
		const { url } = await finishedOverHttp(sandbox);
		onDownload({ kind: 'reset' });
		await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
		onDownload({ kind: 'delay', ms: 100 });
		const started = performance.now();
		expect((await fetch(url)).status).toBe(200);
		expect(performance.now() - started).toBeGreaterThan(95);
	});

	const probe = { headers: { range: 'bytes=0-0' } };

	it('bear on probes and on downloads each by themselves', async () => {
		const { url } = await finishedOverHttp(sandbox);
		sandbox.faults.order({ on: 'probe', action: { kind: 'respond', status: 500 } });
		expect((await fetch(url)).status).toBe(200);
		onDownload({ kind: 'respond', status: 503 });
		expect([(await fetch(url, probe)).status, (await fetch(url)).status]).toEqual([500, 503]);
		expect(sandbox.requests.on('probe')).toMatchObject([{ status: 500, range: 'bytes=0-0' }]);
		expect(sandbox.requests.on('download')).toHaveLength(2);
	});

	it('send the whole file for a range', async () => {
		const { url } = await finishedOverHttp(sandbox);
		const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
		sandbox.faults.order({ on: 'probe', action: { kind: 'ignoreRange' } });
		const response = await fetch(url, probe);
		expect(response.status).toBe(200);
		expect(Buffer.from(await response.arrayBuffer()).equals(whole)).toBe(true);
		expect(sandbox.requests.on('probe')).toMatchObject([{ bytes: whole.length }]);
	});

	it('encode with gzip whoever takes what', async () => {
		const { url } = await finishedOverHttp(sandbox);
		const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
		onDownload({ kind: 'gzip' });
		const response = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
		expect(response.headers.get('content-encoding')).toBe('gzip');
		expect(response.headers.get('content-length')).not.toBe(String(whole.length));
		expect(Buffer.from(await response.arrayBuffer()).equals(whole)).toBe(true);
	});

	it('remember that a file was missing, for so long', async () => {
		const { id, data } = await createOverHttp(sandbox, { prompt: '[seconds: 60000]' });
		const [{ url }] = data;
		const action: FaultAction = { kind: 'remember404', seconds: 0.2 };
		sandbox.faults.order({ on: 'probe', action });
		expect((await fetch(url, probe)).status).toBe(404);
		sandbox.service.finish(id);
		expect((await fetch(url)).status).toBe(404);
		await new Promise((resolve) => setTimeout(resolve, 250));
		expect((await fetch(url)).status).toBe(200);
	});

	it('send without end, until the client leaves', async () => {
		const { url } = await finishedOverHttp(sandbox);
		onDownload({ kind: 'respond', status: 500, body: 'x'.repeat(65_536), endless: true });
		const response = await fetch(url);
		expect(response.status).toBe(500);
		await response.body?.cancel();
		await until(() => !sandbox.requests.on('download')[0].answered);
	});

	it('trickle, as answers of the service do', async () => {
		const { id, url } = await finishedOverHttp(sandbox);
		const action: FaultAction = { kind: 'trickle', everyMs: 60_000, bytes: 10 };
		sandbox.faults.order({ on: 'status', action }, { on: 'download', action });
		const answers = [await send(sandbox, `/v1/generations/${id}`), await fetch(url)];
		for (const { body } of answers) {
			const reader = body?.getReader();
			expect((await reader?.read())?.value).toHaveLength(10);
			await reader?.cancel();
		}
	});

	it('lead to a storage that cannot be reached', async () => {
		onCreate({ kind: 'unreachable' });
		const [{ url }] = (await createOverHttp(sandbox)).data;
		await expect(fetch(url)).rejects.toThrow('fetch failed');
		expect(sandbox.requests.on('download')).toEqual([]);
	});

	it('note a client that leaves before the answer', async () => {
		sandbox.faults.order({ on: 'models', action: { kind: 'delay', ms: 5000 } });
		const asked = fetch(`${sandbox.url}/v1/models`, { signal: AbortSignal.timeout(50) });
		await expect(asked.then(jsonFrom)).rejects.toThrow('timeout');
		await new Promise((resolve) => setTimeout(resolve, 50));
		expect(sandbox.requests.on('models')).toMatchObject([{ answered: false, status: null }]);
	});
});

describe('a share of the requests', () => {
	const struck = (): boolean[] => {
		const share = { on: 'models', times: 'always', share: 0.3 } as const;
		sandbox.faults.order({ ...share, action: { kind: 'reset' } });
		return Array.from({ length: 1000 }, () => sandbox.faults.take({ on: 'models' }) !== null);
	};

	it('is struck, and after a reset the very same', () => {
		const first = struck();
		const count = first.filter(Boolean).length;
		expect(count).toBeGreaterThan(250);
		expect(count).toBeLessThan(350);
		sandbox.reset();
		expect(struck()).toEqual(first);
	});

	it.each([-0.1, 1.1, Number.NaN])('cannot be %s', (share) => {
		const action = { kind: 'reset' } as const;
		expect(() => sandbox.faults.order({ on: 'any', share, action })).toThrow('fault order');
	});
});
