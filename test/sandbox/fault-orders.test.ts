import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';
import { createOverHttp } from './over-http';

let sandbox: Sandbox;

beforeAll(async () => (sandbox = await startSandbox()));
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());

const post = async (order: unknown) =>
	(await http.post(`${sandbox.url}/_sandbox/faults`, order)).status;
const reset = { kind: 'reset' };

describe('an order of a fault', () => {
	it.each<Record<string, unknown>>([
		{ kind: 'respond', status: 500, endless: true },
		{ kind: 'respond', status: 500, endless: true, body: '' },
		{ kind: 'respond', status: 204, endless: true, body: 'x' },
		{ kind: 'respond', status: 304, endless: true, body: 'x' },
		{ kind: 'respond' },
		{ kind: 'respond', status: '500' },
		{ kind: 'respond', status: 100 },
		{ kind: 'respond', status: 1000 },
		{ kind: 'respond', status: 500, headers: { a: {} } },
		{ kind: 'respond', status: 500, contentType: 1 },
		{ kind: 'delay' },
		{ kind: 'delay', ms: '5' },
		{ kind: 'delay', ms: -1 },
		{ kind: 'trickle' },
		{ kind: 'trickle', everyMs: 1, bytes: 0 },
		{ kind: 'redirect' },
		{ kind: 'redirect', location: '/', status: 200 },
		{ kind: 'end' },
		{ kind: 'fail', reason: {} },
		{ kind: 'seconds' },
		{ kind: 'remember404' },
		{ kind: 'early', seconds: null },
		{ kind: 'partialContent', bytes: 0 },
		{ kind: 'truncate' },
		{ kind: 'stall', afterBytes: 0.5 },
		{ kind: 'contentType' },
		{ kind: 'wrongLength' },
		{ kind: 'error' },
		{ kind: 'error', code: 'toString' },
		{ kind: 'error', code: 'server_error', retryAfterIn: 'footer' },
		{ kind: 'inline', as: 'url' },
		{ kind: 'cache' },
		{ kind: 'toString' },
		{ kind: ['reset'] },
		{},
	])('is rejected without a valid %j', async (action) => {
		expect(await post({ on: 'any', action })).toBe(400);
		expect(sandbox.faults.pending).toEqual([]);
	});

	it.each<Record<string, unknown>>([
		{ on: 'toString' },
		{ on: ['any'] },
		{ times: 0 },
		{ times: -1 },
		{ times: 1.5 },
		{ times: 'never' },
		{ skip: -1 },
		{ skip: '1' },
		{ share: '0.5' },
		{ match: 'boat' },
		{ match: { id: 5 } },
	])('is rejected with %j', async (fields) => {
		expect(await post({ on: 'any', action: reset, ...fields })).toBe(400);
		expect(sandbox.faults.pending).toEqual([]);
	});

	it('is accepted with every field that it may have', async () => {
		const match = { promptIncludes: 'a', id: 'b', key: 'main' };
		const more = { body: null, headers: { 'retry-after': '5' }, contentType: 'a/b', work: true };
		const respond = { kind: 'respond', status: 599, endless: true, ...more };
		const order = { on: 'create', match, skip: 0, times: 'always', share: 0, action: respond };
		const error = { kind: 'error', code: 'server_error', message: '', param: 'a', retryAfter: 5 };
		expect(await post([order, { on: 'probe', action: error, times: 2 }])).toBe(200);
		expect(sandbox.faults.pending).toHaveLength(2);
	});
});

it('an endless body in response to HEAD ends at once', async () => {
	const action = { kind: 'respond', status: 500, body: 'x', endless: true } as const;
	sandbox.faults.order({ on: 'download', action });
	const [{ url }] = (await createOverHttp(sandbox)).data;
	expect((await http.head(url)).status).toBe(500);
});
