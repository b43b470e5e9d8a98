import type { FaultAction } from '../../sandbox/faults';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';
import { createOverHttp, holdSleep, lookOverHttp, send, until } from './over-http';

let sandbox: Sandbox;

beforeAll(async () => (sandbox = await startSandbox({ generationSeconds: 0 })));
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());
afterEach(() => jest.restoreAllMocks());

const onCreate = (action: FaultAction): void => sandbox.faults.order({ on: 'create', action });
const images = '/v1/images/generations';
const image = { model: 'lumen-turbo', prompt: 'A lighthouse', size: '128x128' };

describe('faults at the service', () => {
	it('lose the response after charging, or reset the connection before any work', async () => {
		onCreate({ kind: 'loseAnswer' });
		await expect(createOverHttp(sandbox)).rejects.toMatchObject({ code: 'ECONNRESET' });
		expect(sandbox.books.liveChargesFor('A lighthouse')).toBe(1);
		expect(sandbox.requests.all).toMatchObject([{ answered: false, status: null }]);
		onCreate({ kind: 'reset' });
		await expect(createOverHttp(sandbox)).rejects.toMatchObject({ code: 'ECONNRESET' });
		expect(sandbox.books.totals.created).toBe(1);
	});

	it.each([true, false])('never respond, with the work done: %s', async (work) => {
		onCreate({ kind: 'hang', work });
		const leaving = new AbortController();
		const asked = send(sandbox, images, image, { signal: leaving.signal });
		const aborted = expect(asked).rejects.toThrow('canceled');
		await until(() => sandbox.requests.on('create').length === 1);
		// A later request on the same server is answered first.
		expect((await send(sandbox, '/v1/models')).status).toBe(200);
		leaving.abort();
		await aborted;
		expect(sandbox.requests.on('create')).toMatchObject([{ answered: false }]);
		expect(sandbox.books.totals.created).toBe(work ? 1 : 0);
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
		expect(sandbox.books.totals).toMatchObject({ created: 0, charged: 0 });
		expect(sandbox.service.accounts.account('main').balance).toBe(before);
	});

	const page = { kind: 'respond', status: 502, body: '<h1>Bad gateway</h1>' } as const;
	const plain = { kind: 'respond', status: 200, body: 'ok', contentType: 'text/plain' } as const;

	it.each<[FaultAction, number, object, unknown, number]>([
		[page, 502, { 'content-type': 'text/html; charset=utf-8' }, '<h1>Bad gateway</h1>', 0],
		[{ ...page, work: true }, 502, {}, '<h1>Bad gateway</h1>', 1],
		[{ kind: 'respond', status: 503 }, 503, {}, '', 0],
		[{ kind: 'respond', status: 418, body: { a: 1 } }, 418, {}, { a: 1 }, 0],
		[plain, 200, { 'content-type': 'text/plain' }, 'ok', 0],
		[
			{ kind: 'redirect', location: 'http://b.invalid/' },
			302,
			{ location: 'http://b.invalid/' },
			'',
			0,
		],
	])('respond with %j', async (action, status, headers, data, created) => {
		onCreate(action);
		expect(await send(sandbox, images, image)).toMatchObject({ status, headers, data });
		expect(sandbox.books.totals.created).toBe(created);
	});

	it('wait for a match, skip requests, and apply a limited number of times', async () => {
		const error = { kind: 'error', code: 'server_error' } as const;
		sandbox.faults.order(
			{ on: 'create', match: { promptIncludes: 'boat' }, skip: 1, times: 2, action: error },
			{ on: 'status', times: 'always', action: error },
		);
		const statuses: number[] = [];
		for (const prompt of ['a boat', 'a cat', 'a boat', 'a boat', 'a boat']) {
			statuses.push((await send(sandbox, images, { ...image, prompt })).status);
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

	it('strike a share of the requests, and after a reset exactly the same ones', () => {
		const struck = (): boolean[] => {
			const share = { on: 'models', times: 'always', share: 0.3 } as const;
			sandbox.faults.order({ ...share, action: { kind: 'reset' } });
			return Array.from({ length: 1000 }, () => sandbox.faults.take({ on: 'models' }) !== null);
		};
		const first = struck();
		expect(Math.abs(first.filter(Boolean).length - 300)).toBeLessThan(50);
		sandbox.reset();
		expect(struck()).toEqual(first);
	});
});

it.each<Record<string, unknown>>([
	{ on: 'rain' },
	{ on: ['any'] },
	{ action: { kind: 'rain' } },
	{ action: { kind: 'toString' } },
	{ action: { kind: 'error', code: 'toString' } },
])('an order of a fault is rejected with %j', async (fields) => {
	const order = { on: 'any', action: { kind: 'reset' }, ...fields };
	expect((await http.post(`${sandbox.url}/_sandbox/faults`, order)).status).toBe(400);
	expect(sandbox.faults.pending).toEqual([]);
});
