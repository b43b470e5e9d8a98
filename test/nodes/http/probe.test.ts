import { PassThrough, type Readable } from 'node:stream';

import type { IHttpRequestOptions } from 'n8n-workflow';

import { fileOf, probeWith } from '../../../nodes/shared/http/transport';
import { contextOf } from '../../support/context';
import { controllers } from '../../support/controllers';

afterEach(() => jest.restoreAllMocks());

describe('the probe of a presigned URL', () => {
	const url = 'https://storage.example.com/a.png?X-Amz-Signature=0';

	function storage(statusCode: number, headers: object, body: Readable, cancel?: AbortSignal) {
		const sent: IHttpRequestOptions[] = [];
		const helpers = {
			httpRequest: async (options: IHttpRequestOptions) => {
				sent.push(options);
				return { statusCode, headers, body };
			},
		};
		return { sent, probe: probeWith(contextOf({ cancel, helpers }).step) };
	}

	/** Returns a body that never ends. */
	function bodyOf(text: string): Readable {
		const body = new PassThrough();
		if (text) body.write(text);
		return body;
	}

	it('asks for the first byte as it is stored, without the key, and follows no redirect', async () => {
		const { sent, probe } = storage(403, {}, bodyOf(''));
		expect(await probe(url)).toEqual({ status: 403, oneByte: false });
		expect(sent).toEqual([
			expect.objectContaining({
				method: 'GET',
				url,
				headers: { Range: 'bytes=0-0', 'Accept-Encoding': 'identity' },
				encoding: 'stream',
				ignoreHttpStatusErrors: true,
				disableFollowRedirect: true,
			}),
		]);
	});

	it.each<[string, number, Record<string, string>, string | null, boolean]>([
		['says that it is one', 200, { 'content-length': '1' }, 'x', true],
		['says which one it is', 206, { 'content-range': 'bytes 0-0/52' }, 'x', true],
		['ends after one', 200, {}, 'x', true],
		['says that it is the whole file', 200, { 'content-length': '52' }, 'x', false],
		['goes on', 200, {}, 'xx', false],
		['is one of an error', 404, { 'content-length': '1' }, 'x', false],
	])(
		'tells whether it was offered one byte alone: an answer that %s',
		async (_, status, headers, text, oneByte) => {
			const body = bodyOf(text ?? '');
			if (text === 'x' && !headers['content-length']) body.push(null);
			const { probe } = storage(status, headers, body);
			expect(await probe(url)).toEqual({ status, oneByte });
			expect(body.destroyed).toBe(true);
		},
	);

	it.each(['its signal', 'Stop', 'ten seconds'])(
		'disconnects from a storage that never sends, after %s',
		async (what) => {
			const [stop, look, late] = controllers(3);
			const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal);
			const body = bodyOf('');
			const { probe } = storage(200, {}, body, stop.signal);
			const probed = probe(url, look.signal);
			setImmediate(() => ({ 'its signal': look, Stop: stop, 'ten seconds': late })[what]?.abort());
			await expect(probed).rejects.toThrow(/abort/);
			expect(body.destroyed).toBe(true);
			expect(timeout.mock.calls).toEqual([[10_000]]);
		},
	);

	it('notes the size of the file for its download, which may end early', async () => {
		const sizes = new Map<string, number>();
		const headers = { 'content-range': 'bytes 0-0/52' };
		const httpRequest = async () => ({ statusCode: 206, headers, body: bodyOf('x') });
		await probeWith(contextOf({ helpers: { httpRequest } }).step, sizes)(url);
		expect(sizes.get(fileOf(`${url}&again`))).toBe(52);
	});

	it('is not sent at all after a Stop', async () => {
		const { sent, probe } = storage(200, {}, bodyOf(''), AbortSignal.abort());
		await expect(probe(url)).rejects.toThrow(/abort/);
		expect(sent).toEqual([]);
	});

	it('that breaks after it was read does not throw', async () => {
		const body = bodyOf('');
		await storage(403, {}, body).probe(url);
		expect(() => body.emit('error', new Error('reset'))).not.toThrow();
	});
});
