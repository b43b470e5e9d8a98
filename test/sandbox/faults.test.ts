import type { FaultAction } from '../../sandbox/faults';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';
import { createOverHttp, holdSleep, lookOverHttp, send, until } from './over-http';

let sandbox: Sandbox;

beforeAll(async () => {
	sandbox = await startSandbox({ generationSeconds: 5, timeScale: 100 });
});
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());
afterEach(() => jest.restoreAllMocks());

const onCreate = (action: FaultAction): void => sandbox.faults.order({ on: 'create', action });

const image = { model: 'lumen-turbo', prompt: 'A lighthouse', size: '128x128' };

describe('faults at the service', () => {
	it('lose the response after charging', async () => {
		onCreate({ kind: 'loseAnswer' });
		await expect(createOverHttp(sandbox)).rejects.toMatchObject({ code: 'ECONNRESET' });
		expect(sandbox.books.liveChargesFor('A lighthouse')).toBe(1);
		expect(sandbox.requests.all).toMatchObject([{ answered: false, status: null }]);
	});

	it('reset the connection before any work', async () => {
		onCreate({ kind: 'reset' });
		await expect(createOverHttp(sandbox)).rejects.toMatchObject({ code: 'ECONNRESET' });
		expect(sandbox.books.totals.created).toBe(0);
	});

	it.each([true, false])('never respond, with the work done: %s', async (work) => {
		onCreate({ kind: 'hang', work });
		const leaving = new AbortController();
		const { signal } = leaving;
		const asked = send(sandbox, '/v1/images/generations', image, { signal });
		const aborted = expect(asked).rejects.toThrow('canceled');
		await until(() => sandbox.requests.on('create').length === 1);
		// A later request on the same server is answered first.
		expect((await send(sandbox, '/v1/models')).status).toBe(200);
		leaving.abort();
		await aborted;
		expect(sandbox.requests.on('create')).toMatchObject([{ answered: false }]);
		expect(sandbox.books.totals.created).toBe(work ? 1 : 0);
	});

	it('ask to wait before the next request', async () => {
		const action = { kind: 'error', code: 'service_unavailable', retryAfter: 30 } as const;
		onCreate(action);
		const { status, headers } = await send(sandbox, '/v1/images/generations', image);
		expect([status, headers['retry-after']]).toEqual([503, '30']);
	});

	it.each([
		['body', { retry_after: 30, error: { code: 'CONCURRENCY_LIMIT_REACHED' } }],
		['error', { error: { code: 'CONCURRENCY_LIMIT_REACHED', retry_after: 30 } }],
	] as const)('ask to wait only in the body: in %s', async (retryAfterIn, body) => {
		onCreate({ kind: 'error', code: 'CONCURRENCY_LIMIT_REACHED', retryAfter: 30, retryAfterIn });
		const { status, headers, data } = await send(sandbox, '/v1/images/generations', image);
		expect([status, headers['retry-after']]).toEqual([429, undefined]);
		expect(data).toMatchObject(body);
	});

	it('return an error with the status 200, and create nothing', async () => {
		onCreate({ kind: 'error', code: 'insufficient_credits', status: 200 });
		const { status, data } = await send(sandbox, '/v1/images/generations', image);
		expect(status).toBe(200);
		expect(data).toMatchObject({ error: { code: 'insufficient_credits' } });
		expect(sandbox.books.totals.created).toBe(0);
	});

	it('give a generation an ID that is a number, and that JavaScript would round', async () => {
		onCreate({ kind: 'numericId' });
		const text = { responseType: 'text', transformResponse: (body: string) => body } as const;
		const { data } = await send<string>(sandbox, '/v1/images/generations', image, text);
		const [, id] = /"id":(\d{19}),/.exec(data) ?? [];
		expect(Number.isSafeInteger(Number(id))).toBe(false);
		expect(String(BigInt(Number(id)))).not.toBe(id);
		expect((await send<string>(sandbox, `/v1/generations/${id}`, undefined, text)).data).toContain(
			`"generation_id":${id},`,
		);
	});

	it.each([
		['b64_json', /^iVBOR/],
		['dataUri', /^data:image\/png;base64,iVBOR/],
	] as const)('put the output of a generation into its status: %s', async (as, start) => {
		onCreate({ kind: 'inline', as });
		const { id, data } = await createOverHttp(sandbox, { prompt: '[seconds: 60000]' });
		expect(data[0].url).toMatch(/^http/);
		sandbox.service.finish(id);
		const [output] = (await lookOverHttp(sandbox, id)).data;
		const { b64_json, url } = output as { b64_json?: string; url?: string };
		expect([b64_json, url]).toEqual(
			as === 'dataUri'
				? [undefined, expect.stringMatching(start)]
				: [expect.stringMatching(start), undefined],
		);
	});

	it('remove the output URL from a response', async () => {
		onCreate({ kind: 'withoutUrl' });
		const { data } = await send(sandbox, '/v1/images/generations', image);
		expect(data).toMatchObject({ status: 'pending', data: [{ url: null }] });
	});

	it('do the work immediately, and respond only after the delay', async () => {
		const sleep = holdSleep();
		onCreate({ kind: 'delay', ms: 150 });
		let isAnswered = false;
		const asked = createOverHttp(sandbox).then(() => (isAnswered = true));
		expect(await sleep.began).toBe(150);
		expect(sandbox.books.totals.created).toBe(1);
		// A later request on the same server is answered first.
		expect((await send(sandbox, '/v1/models')).status).toBe(200);
		expect(isAnswered).toBe(false);
		sleep.end();
		await asked;
	});

	it('fail a delayed request whose key is revoked, without creating or charging', async () => {
		const sleep = holdSleep();
		onCreate({ kind: 'delay', ms: 100 });
		const before = sandbox.service.accounts.account('main').balance;
		const refused = expect(createOverHttp(sandbox)).rejects.toThrow('401');
		await sleep.began;
		expect(sandbox.books.totals.created).toBe(1);
		sandbox.service.accounts.keyOf('main').state = 'revoked';
		sleep.end();
		await refused;
		expect(sandbox.requests.all).toMatchObject([{ status: 401, answered: true }]);
		expect(sandbox.books.totals).toMatchObject({ created: 0, charged: 0 });
		expect(sandbox.service.accounts.account('main').balance).toBe(before);
	});

	it.each<[string, FaultAction, number, string | undefined, unknown]>([
		[
			'HTML',
			{ kind: 'respond', status: 502, body: '<h1>Bad gateway</h1>' },
			502,
			'text/html; charset=utf-8',
			'<h1>Bad gateway</h1>',
		],
		['nothing', { kind: 'respond', status: 503 }, 503, undefined, ''],
		[
			'any JSON',
			{ kind: 'respond', status: 418, body: { a: 1 } },
			418,
			'application/json; charset=utf-8',
			{ a: 1 },
		],
		[
			'any text',
			{ kind: 'respond', status: 200, body: 'ok', contentType: 'text/plain' },
			200,
			'text/plain',
			'ok',
		],
	])('respond with %s', async (_case, action, status, type, body) => {
		onCreate(action);
		const response = await send(sandbox, '/v1/images/generations', image);
		expect(response.status).toBe(status);
		expect(response.headers['content-type']).toBe(type);
		expect(response.data).toEqual(body);
		expect(sandbox.books.totals.created).toBe(0);
	});

	it('respond with 5xx after charging', async () => {
		onCreate({ kind: 'respond', status: 504, body: '<h1>Timeout</h1>', work: true });
		expect((await send(sandbox, '/v1/images/generations', image)).status).toBe(504);
		expect(sandbox.books.totals).toMatchObject({ created: 1, charged: 1 });
	});

	it('redirect to another origin', async () => {
		onCreate({ kind: 'redirect', location: 'http://127.0.0.1:9/elsewhere' });
		const response = await send(sandbox, '/v1/images/generations', image);
		expect(response.status).toBe(302);
		expect(response.headers.location).toBe('http://127.0.0.1:9/elsewhere');
	});

	it('make a generation fail', async () => {
		onCreate({ kind: 'fail', reason: 'no paint', asText: true });
		const { id } = await createOverHttp(sandbox, { prompt: 'x' });
		let seen = await lookOverHttp(sandbox, id);
		while (['pending', 'processing'].includes(seen.status)) seen = await lookOverHttp(sandbox, id);
		expect(seen).toMatchObject({ status: 'failed', error: 'no paint' });
	});

	it('wait for a match, skip requests, and apply a limited number of times', async () => {
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

	it('apply to one generation by id', async () => {
		const [first, second] = [await createOverHttp(sandbox), await createOverHttp(sandbox)];
		const action: FaultAction = { kind: 'error', code: 'service_unavailable' };
		sandbox.faults.order({ on: 'status', match: { id: second.id }, action });
		expect(await lookOverHttp(sandbox, first.id)).toMatchObject({ id: first.id });
		await expect(lookOverHttp(sandbox, second.id)).rejects.toThrow('503');
	});

	it('return the same status from a cache, unless the request says no-cache', async () => {
		const { id } = await createOverHttp(sandbox, { prompt: '[seconds: 60000]' });
		const action = { kind: 'cache', seconds: 60 } as const;
		sandbox.faults.order({ on: 'status', times: 'always', action });
		const look = async (headers: Record<string, string> = {}): Promise<unknown> =>
			(
				await send<{ status: string }>(sandbox, `/v1/generations/${id}`, undefined, {
					headers: { authorization: `Bearer ${sandbox.keys.main}`, ...headers },
				})
			).data.status;
		const first = await look();
		sandbox.service.finish(id);
		expect(await look()).toBe(first);
		expect(await look({ 'cache-control': 'no-cache' })).toBe('completed');
		expect(await look()).toBe('completed');
	});

	it('are rejected if they are invalid', () => {
		const order = { on: 'create', action: { kind: 'rain' } };
		expect(() => sandbox.faults.order(order as never)).toThrow('README');
	});

	it('record a client that disconnects before the response', async () => {
		const sleep = holdSleep();
		const leaving = new AbortController();
		sandbox.faults.order({ on: 'models', action: { kind: 'delay', ms: 5000 } });
		const asked = http.get(`${sandbox.url}/v1/models`, { signal: leaving.signal });
		const aborted = expect(asked).rejects.toThrow('canceled');
		expect(await sleep.began).toBe(5000);
		leaving.abort();
		await aborted;
		await until(() => !sandbox.requests.on('models')[0].answered);
		expect(sandbox.requests.on('models')).toMatchObject([{ answered: false, status: null }]);
	});
});

describe('a share of the requests', () => {
	const struck = (): boolean[] => {
		const share = { on: 'models', times: 'always', share: 0.3 } as const;
		sandbox.faults.order({ ...share, action: { kind: 'reset' } });
		return Array.from({ length: 1000 }, () => sandbox.faults.take({ on: 'models' }) !== null);
	};

	it('gets the fault, and after a reset exactly the same share', () => {
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
