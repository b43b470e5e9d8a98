import type { FaultAction } from '../../sandbox/faults';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { createOverHttp, finishedOverHttp, holdSleep, send, until } from './over-http';
import { VirtualClock } from './virtual';

let sandbox: Sandbox;
const clock = new VirtualClock();

beforeAll(async () => {
	sandbox = await startSandbox({ clock, generationSeconds: 5 });
});
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());
afterEach(() => jest.restoreAllMocks());

const onDownload = (action: FaultAction): void => sandbox.faults.order({ on: 'download', action });

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
		const leaving = new AbortController();
		const response = await fetch(url, { signal: leaving.signal });
		let bytes = 0;
		const reading = (async () => {
			for await (const chunk of response.body ?? []) bytes += (chunk as Uint8Array).length;
		})();
		const aborted = expect(reading).rejects.toThrow('aborted');
		await until(() => bytes >= 500);
		// A later request at the same storage is answered first.
		expect((await fetch(url)).status).toBe(200);
		leaving.abort();
		await aborted;
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
		const sleep = holdSleep();
		onDownload({ kind: 'delay', ms: 100 });
		let isAnswered = false;
		const late = fetch(url).finally(() => (isAnswered = true));
		expect(await sleep.began).toBe(100);
		expect((await fetch(url)).status).toBe(200);
		expect(isAnswered).toBe(false);
		sleep.end();
		expect((await late).status).toBe(200);
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
		clock.pass(0.1);
		expect((await fetch(url)).status).toBe(404);
		clock.pass(0.1);
		expect((await fetch(url)).status).toBe(200);
	});

	it('have the file before its generation is done', async () => {
		const { id, data } = await createOverHttp(sandbox, { prompt: '[seconds: 60000]' });
		const order = { on: 'probe', times: 'always' } as const;
		sandbox.faults.order({ ...order, action: { kind: 'early', seconds: 100_000 } });
		expect((await fetch(data[0].url, probe)).ok).toBe(true);
		const { status } = (await (await send(sandbox, `/v1/generations/${id}`)).json()) as {
			status: string;
		};
		expect(status).not.toBe('completed');
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
		sandbox.faults.order({ on: 'create', action: { kind: 'unreachable' } });
		const [{ url }] = (await createOverHttp(sandbox)).data;
		await expect(fetch(url)).rejects.toThrow('fetch failed');
		expect(sandbox.requests.on('download')).toEqual([]);
	});
});
