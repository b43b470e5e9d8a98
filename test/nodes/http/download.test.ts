import { PassThrough, type Readable } from 'node:stream';

import type { IHttpRequestOptions } from 'n8n-workflow';

import { requestClock, wallClock } from '../../../nodes/shared/http/clock';
import { fileOf } from '../../../nodes/shared/http/transport';
import {
	BINARY,
	bytesOf,
	downloading,
	endless,
	file,
	generation,
	made,
	passingTime,
} from './downloading';

beforeEach(() => void passingTime());

afterEach(() => jest.restoreAllMocks());

it('a body that closes without a word before its first bytes is a download that failed, and no endless wait', async () => {
	const bodyOf = async () => {
		const body = new PassThrough();
		setImmediate(() => body.destroy());
		return body;
	};
	await expect(downloading({ bodyOf })).rejects.toMatchObject({
		code: 'download_failed',
		charge: 'paid',
		generation: { id: 'generation-1' },
	});
});

describe('a response that is not the output', () => {
	it.each([
		['a refusal', 500, ''],
		['a page', 200, '<!doctype html>'.padEnd(2000)],
	])('is not read further, however long it is: %s', async (_, statusCode, first) => {
		const bodies: Readable[] = [];
		const bodyOf = async () => bodies[bodies.push(endless(first)) - 1];
		await expect(downloading({ bodyOf, statusCode })).rejects.toMatchObject({ status: statusCode });
		expect(bodies.length).toBeGreaterThanOrEqual(5);
		expect(bodies.every(({ destroyed }) => destroyed)).toBe(true);
	});

	it.each([
		['an empty file', ''],
		['only one byte', BINARY],
	])('is an error: %s', async (words, content) => {
		const bodyOf = async () => new PassThrough().end(content);
		await expect(downloading({ bodyOf })).rejects.toMatchObject({
			message: `The storage returned ${words}`,
			charge: 'paid',
		});
	});

	it('ends each try if it never begins, as through a proxy that does not connect', async () => {
		jest.spyOn(requestClock, 'sleep').mockResolvedValue();
		const signals: unknown[] = [];
		const bodyOf = async ({ abortSignal }: IHttpRequestOptions) => {
			signals.push(abortSignal);
			return await new Promise<never>(() => undefined);
		};
		const running = downloading({ bodyOf, patienceMs: 0 });
		await expect(running).rejects.toMatchObject({ message: 'The download stalled' });
		expect(signals).toHaveLength(5);
		expect(signals).toEqual(
			signals.map(() => expect.objectContaining({ aborted: true }) as object),
		);
	});
});

describe('text instead of the output', () => {
	const KEY = `svc_live_${'0123456789abcdef'.repeat(2)}01234567`;

	it.each([
		['Service temporarily overloaded', 'Service temporarily overloaded'],
		['\ufeff<html><title>502 Bad\x1b Gateway</title>', '502 Bad Gateway'],
		[`Bad key ${KEY}, try again`, 'Bad key …, try again'],
		['no '.repeat(50), `${'no '.repeat(33)}n…`],
	])('is an error with its first words: %j', async (text, words) => {
		const bodyOf = async () => new PassThrough().end(text);
		await expect(downloading({ bodyOf })).rejects.toMatchObject({
			message: `The storage returned text instead of the image or video: ${words}`,
			code: 'download_failed',
			charge: 'paid',
		});
	});

	it('is none where it is an SVG', async () => {
		const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
		const { binary } = await downloading({ bodyOf: async () => new PassThrough().end(svg) });
		expect(binary.bytes).toBe(svg.length);
	});
});

describe('a 206', () => {
	const partOf = async (range?: string) =>
		await downloading({
			bodyOf: async () => file(),
			statusCode: 206,
			headersOf: (): Record<string, string> =>
				range === undefined ? {} : { 'content-range': range },
		});

	it('that covers the whole file is the file', async () => {
		expect((await partOf('bytes 0-99/100')).binary).toEqual({ bytes: 100 });
	});

	it.each(['bytes 0-99/101', 'bytes 1-99/100', 'bytes 0-99/*', 'bytes */100', undefined])(
		'that does not say so is only a part: %s',
		async (range) => {
			await expect(partOf(range)).rejects.toMatchObject({
				message: 'The storage returned only a part of the file',
				status: 206,
			});
		},
	);
});

describe('a file that is said to be missing', () => {
	it.each([
		['caches remember that it was missing', 404],
		['it was only accepted', 202],
		['it has no content yet', 204],
		['the storage is down', 500],
		['the storage is busy', 503],
	])('is requested until Timeout, because %s', async (_, statusCode) => {
		const pauses = passingTime();
		const bodyOf = async () => endless('');
		const running = downloading({ bodyOf, statusCode, patienceMs: 300_000 });
		await expect(running).rejects.toMatchObject({ status: statusCode });
		expect(pauses.reduce((sum, ms) => sum + ms)).toBeCloseTo(300_000, 1);
	});

	it('has its whole patience left after it has waited for its turn', async () => {
		const patienceMs = 60_000;
		const statusCode = [503, 503, 503, 503, 503, 503, 200];
		const bodies = [...Array.from({ length: 6 }, () => endless('')), file()];
		const bodyOf = async () => bodies.shift() as Readable;
		let turns = 0;
		const limited = async <T>(tryOnce: () => Promise<T>) => {
			if (turns++ === 0) await wallClock.sleep(3_600_000);
			return await tryOnce();
		};
		const { binary } = await downloading({ bodyOf, statusCode, patienceMs, limited });
		expect(binary).toEqual({ bytes: 100 });
	});
});

describe('a body that hardly delivers data', () => {
	/** Windows pass as soon as they have begun. */
	const windows = (longest = 120_000) =>
		jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
			const passed = new AbortController();
			if (ms % 60_000 === 0 && ms <= longest) setImmediate(() => passed.abort());
			return passed.signal;
		});

	it.each(['', BINARY, BINARY.repeat(1000)])('is aborted and restarted: %#', async (first) => {
		windows();
		const bodies: Readable[] = [];
		const bodyOf = async () => bodies[bodies.push(endless(first)) - 1];
		await expect(downloading({ bodyOf })).rejects.toMatchObject({
			message: 'The download stalled',
			code: 'download_failed',
			charge: 'paid',
		});
		expect(bodies.length).toBeGreaterThanOrEqual(5);
		expect(bodies.every(({ destroyed }) => destroyed)).toBe(true);
	});

	/** Sends so many pieces, a turn apart, that are headway enough. */
	const send = (body: PassThrough, rest: number, after: () => void) => {
		if (rest === 0) return after();
		body.write(Buffer.alloc(64 * 1024, 1));
		setImmediate(() => send(body, rest - 1, after));
	};

	it('is not one that only takes long', async () => {
		windows();
		const body = new PassThrough();
		send(body, 20, () => body.end());
		const { binary } = await downloading({ bodyOf: async () => body });
		expect(binary.bytes).toBe(20 * 64 * 1024);
	});

	it('is one that stands still, however much has come before', async () => {
		windows();
		const bodies: Readable[] = [];
		const bodyOf = async () => {
			const body = new PassThrough();
			bodies.push(body);
			send(body, 5, () => undefined);
			return body;
		};
		await expect(downloading({ bodyOf })).rejects.toThrow('The download stalled');
		expect(bodies.every(({ destroyed }) => destroyed)).toBe(true);
	});
});

describe('a file that ends early', () => {
	const { url } = generation.item;
	const sizes = () => new Map([[fileOf(String(url)), 100]]);
	const short = () => new PassThrough().end(BINARY.repeat(60));

	it('is no success if a probe knows its size, however cleanly it ends', async () => {
		const bodies = [short(), file()];
		const bodyOf = async () => bodies.shift() as Readable;
		expect((await downloading({ bodyOf, sizes: sizes() })).binary).toEqual({ bytes: 100 });
		await expect(
			downloading({ bodyOf: async () => short(), sizes: sizes() }),
		).rejects.toMatchObject({
			message: 'The download ended after 60 of 100 bytes',
			code: 'download_failed',
			charge: 'paid',
		});
	});
});

describe('an output that came in the response', () => {
	const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(2_000)]);
	const inline = () => made({ status: 'completed', url: null, b64_json: PNG.toString('base64') });
	const noRequest = async () => await Promise.reject(new Error('No request is needed'));

	it('is stored without any request', async () => {
		const done = await downloading({ bodyOf: noRequest, generation: inline() });
		expect(done.binary).toEqual({ bytes: PNG.length });
		expect(done.generation.item.url).toBeNull();
	});

	it('is requested again if n8n could not store it', async () => {
		let tries = 0;
		const store = async (whole: Buffer | Readable) => {
			if (++tries < 3) throw new Error('The database is locked');
			return await bytesOf(whole);
		};
		const refresh = jest.fn(async () => inline());
		const done = await downloading({ bodyOf: noRequest, generation: inline(), store, refresh });
		expect([done.binary, refresh.mock.calls.length]).toEqual([{ bytes: PNG.length }, 2]);
	});
});

describe('a try of a download', () => {
	it('requests the stored file without the key, and with a time limit', async () => {
		const sent: IHttpRequestOptions[] = [];
		const bodyOf = async (options: IHttpRequestOptions) => {
			sent.push(options);
			return file();
		};
		await downloading({ bodyOf });
		expect(sent).toEqual([
			{
				method: 'GET',
				url: generation.item.url,
				headers: { 'Accept-Encoding': 'identity' },
				encoding: 'stream',
				timeout: 60_000,
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				abortSignal: expect.any(AbortSignal) as AbortSignal,
			},
		]);
	});

	it('passes its file on as an unread stream, which n8n’s storage may pipe', async () => {
		const store = async (whole: Buffer | Readable) =>
			await bytesOf((whole as Readable).pipe(new PassThrough()));
		const bodyOf = async () => new PassThrough().end(Buffer.alloc(1_000_000, 1));
		expect((await downloading({ bodyOf, store })).binary.bytes).toBe(1_000_000);
	});

	it('that breaks after it was read does not end anything else', async () => {
		const bodies: Readable[] = [];
		const bodyOf = async () => bodies[bodies.push(endless('')) - 1];
		await expect(downloading({ bodyOf, statusCode: 500 })).rejects.toMatchObject({ status: 500 });
		expect(() => bodies[0].emit('error', new Error('reset'))).not.toThrow();
	});
});
