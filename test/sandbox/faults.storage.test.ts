import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { FaultAction } from '../../sandbox/faults';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { getBytes, getStream, http } from '../../tools/http';
import { createOverHttp, finishedOverHttp, until } from './over-http';
import { VirtualClock } from './virtual';

let sandbox: Sandbox;
const clock = new VirtualClock();

beforeAll(async () => {
	sandbox = await startSandbox({ clock, generationSeconds: 5 });
});
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());

const onDownload = (action: FaultAction): void => sandbox.faults.order({ on: 'download', action });

describe('faults at the storage', () => {
	it.each([false, true])('break the connection midway, chunked: %s', async (chunked) => {
		const { url } = await finishedOverHttp(sandbox);
		onDownload({ kind: 'truncate', afterBytes: 500, chunked });
		const { headers, data } = await getStream(url);
		expect('content-length' in headers).toBe(!chunked);
		await expect(buffer(data)).rejects.toThrow('aborted');
		expect((await http.get(url)).status).toBe(200);
	});

	it('stall, and keep the connection open', async () => {
		const { url } = await finishedOverHttp(sandbox);
		onDownload({ kind: 'stall', afterBytes: 500 });
		const leaving = new AbortController();
		const { data } = await getStream(url, { signal: leaving.signal });
		let bytes = 0;
		const reading = (async () => {
			for await (const chunk of data) bytes += (chunk as Buffer).length;
		})();
		const aborted = expect(reading).rejects.toThrow('canceled');
		await until(() => bytes >= 500);
		// A later request at the same storage is answered first.
		expect((await http.get(url)).status).toBe(200);
		leaving.abort();
		await aborted;
		expect(bytes).toBe(500);
	});

	it('send the whole file without a Content-Length, or with a wrong one', async () => {
		const { url } = await finishedOverHttp(sandbox);
		const { data: whole } = await getBytes(url);
		onDownload({ kind: 'noContentLength' });
		const chunked = await getBytes(url);
		expect(chunked.headers).not.toHaveProperty('content-length');
		expect(chunked.data.equals(whole)).toBe(true);
		onDownload({ kind: 'wrongLength', by: 10 });
		const { headers, data } = await getStream(url);
		expect(headers['content-length']).toBe(String(whole.length + 10));
		await expect(buffer(data)).rejects.toThrow('aborted');
	});

	it.each<[FaultAction, number, object]>([
		[{ kind: 'expire' }, 403, {}],
		[{ kind: 'contentType', value: 'text/plain' }, 200, { 'content-type': 'text/plain' }],
		[{ kind: 'redirect', location: 'http://127.0.0.1:9/' }, 302, {}],
		[{ kind: 'respond', status: 503, body: '<Error/>', contentType: 'application/xml' }, 503, {}],
		[{ kind: 'error', code: 'server_error' }, 500, {}],
	])('respond differently, once: %j', async (action, status, headers) => {
		const { url } = await finishedOverHttp(sandbox);
		onDownload(action);
		expect(await http.get(url)).toMatchObject({ status, headers });
		expect((await http.get(url)).status).toBe(200);
	});

	const probe = { headers: { range: 'bytes=0-0' } };

	it('apply to probes and downloads separately', async () => {
		const { url } = await finishedOverHttp(sandbox);
		sandbox.faults.order({ on: 'probe', action: { kind: 'respond', status: 500 } });
		expect((await http.get(url)).status).toBe(200);
		onDownload({ kind: 'respond', status: 503 });
		expect([(await http.get(url, probe)).status, (await http.get(url)).status]).toEqual([500, 503]);
		expect(sandbox.requests.on('probe')).toMatchObject([{ status: 500 }]);
		expect(sandbox.requests.on('download')).toHaveLength(2);
	});

	it('send the whole file for a range', async () => {
		const { url } = await finishedOverHttp(sandbox);
		const { data: whole } = await getBytes(url);
		sandbox.faults.order({ on: 'probe', action: { kind: 'ignoreRange' } });
		expect(await getBytes(url, probe)).toMatchObject({ status: 200, data: whole });
	});

	it.each([
		['the whole file', undefined],
		['its first bytes', 10],
	])('return 206 with %s for any range', async (_, bytes) => {
		const { url } = await finishedOverHttp(sandbox);
		const { data: whole } = await getBytes(url);
		const size = bytes ?? whole.length;
		for (const on of ['probe', 'download'] as const) {
			sandbox.faults.order({ on, action: { kind: 'partialContent', bytes } });
			const { status, data, headers } = await getBytes(url, on === 'probe' ? probe : {});
			expect(status).toBe(206);
			expect(data.equals(whole.subarray(0, size))).toBe(true);
			expect(headers['content-range']).toBe(`bytes 0-${size - 1}/${whole.length}`);
		}
	});

	it('encode with gzip even if the client does not accept it', async () => {
		const { url } = await finishedOverHttp(sandbox);
		const { data: whole } = await getBytes(url);
		onDownload({ kind: 'gzip' });
		const identity = { headers: { 'accept-encoding': 'identity' }, decompress: false };
		const { headers, data } = await getBytes(url, identity);
		expect(headers['content-encoding']).toBe('gzip');
		expect(headers['content-length']).not.toBe(String(whole.length));
		expect(gunzipSync(data).equals(whole)).toBe(true);
	});

	it('keep reporting a file as missing for the given time', async () => {
		const { id, data } = await createOverHttp(sandbox, { prompt: '[seconds: 60000]' });
		const [{ url }] = data;
		const action: FaultAction = { kind: 'remember404', seconds: 0.2 };
		sandbox.faults.order({ on: 'probe', action });
		expect((await http.get(url, probe)).status).toBe(404);
		sandbox.service.finish(id);
		expect((await http.get(url)).status).toBe(404);
		clock.pass(0.1);
		expect((await http.get(url)).status).toBe(404);
		clock.pass(0.1);
		expect((await http.get(url)).status).toBe(200);
	});
});
