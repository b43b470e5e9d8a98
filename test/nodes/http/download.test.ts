import { EventEmitter, once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';

import type { IHttpRequestOptions } from 'n8n-workflow';

import { takeInlineFile } from '../../../client/api/generation';
import { limit } from '../../../client/async';
import { wallClock } from '../../../nodes/shared/http/clock';
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

describe('a body that ends before its first bytes', () => {
	it.each<[string, () => Promise<Readable>]>([
		[
			'broken before anyone has read it',
			async () => {
				const body = new PassThrough();
				const broken = once(body, 'error');
				body.destroy(new Error('reset'));
				await broken;
				return body;
			},
		],
		[
			'closed before anyone has read it',
			async () => {
				const body = new PassThrough().destroy();
				await once(body, 'close');
				return body;
			},
		],
		[
			'closed without a word while it is waited for',
			async () => {
				const body = new PassThrough();
				setImmediate(() => body.destroy());
				return body;
			},
		],
	])('is a download that failed, and no endless wait: %s', async (_, bodyOf) => {
		await expect(downloading({ bodyOf })).rejects.toMatchObject({
			code: 'download_failed',
			charge: 'paid',
			generation: { id: 'generation-1' },
		});
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
});

describe('text instead of the output', () => {
	const KEY = `svc_live_${'0123456789abcdef'.repeat(2)}01234567`;

	it.each([
		['Service temporarily overloaded', 'Service temporarily overloaded'],
		['\ufeff<html><title>502 Bad\x1b Gateway</title>', '502 Bad Gateway'],
		['<!-- a --><?xml version="1.0"?><Error><Code>Expired</Code></Error>', 'Expired'],
		[`Bad key ${KEY}, try again`, 'Bad key …, try again'],
		['{"error":{"message":"Slow down"}}', '{"error":{"message":"Slow down"}}'],
		['word '.repeat(500), `${'word '.repeat(20).trim()}…`],
	])('is an error with its first words: %j', async (text, words) => {
		const bodyOf = async () => new PassThrough().end(text);
		await expect(downloading({ bodyOf })).rejects.toMatchObject({
			message: `The storage returned text instead of the image or video: ${words}`,
			code: 'download_failed',
			charge: 'paid',
		});
	});

	it('is an error also where it has no words', async () => {
		const bodyOf = async () => new PassThrough().end('<html><body></body>');
		await expect(downloading({ bodyOf })).rejects.toMatchObject({
			message: 'The storage returned text instead of the image or video',
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

	it('is requested four times more, even if Timeout is short', async () => {
		const bodyOf = jest.fn(async () => endless(''));
		const running = downloading({ bodyOf, statusCode: 404, patienceMs: 1 });
		await expect(running).rejects.toMatchObject({ status: 404 });
		expect(bodyOf).toHaveBeenCalledTimes(5);
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

	it('is one that never begins, such as behind a proxy that does not connect', async () => {
		windows();
		let tries = 0;
		const bodyOf = async () => {
			tries++;
			return await new Promise<never>(() => undefined);
		};
		await expect(downloading({ bodyOf })).rejects.toThrow('The download stalled');
		expect(tries).toBeGreaterThanOrEqual(5);
	});

	it('is not a small one that came with the headers and is stored for long', async () => {
		windows();
		let begun = 0;
		const { binary } = await downloading({
			bodyOf: async () => {
				begun++;
				const body = Object.assign(new PassThrough(), { complete: true });
				body.end(BINARY.repeat(1000));
				await new Promise(process.nextTick);
				return body;
			},
			store: async (whole) => {
				for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
				return await bytesOf(whole);
			},
		});
		expect([binary.bytes, begun]).toEqual([BINARY.length * 1000, 1]);
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

	it('is one that drips without an end', async () => {
		windows();
		const drip = (body: PassThrough) => {
			if (body.destroyed) return;
			body.write(BINARY.repeat(1000));
			setImmediate(() => drip(body));
		};
		const bodies: Readable[] = [];
		const bodyOf = async () => {
			const body = new PassThrough();
			bodies.push(body);
			drip(body);
			return body;
		};
		await expect(downloading({ bodyOf })).rejects.toThrow('The download stalled');
		expect(bodies.length).toBeGreaterThanOrEqual(5);
	});

	it('is not one that has come as a whole and is stored for long afterwards', async () => {
		windows();
		let begun = 0;
		let stored = 0;
		const { binary } = await downloading({
			bodyOf: async () => {
				begun++;
				return new PassThrough().end(Buffer.alloc(1_000_000, 1));
			},
			store: async (whole) => {
				const bytes = await bytesOf(whole);
				for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
				stored++;
				return bytes;
			},
		});
		expect([binary.bytes, begun, stored]).toEqual([1_000_000, 1, 1]);
	});

	it('causes no leak warning while its first bytes trickle in', async () => {
		const warned = jest.spyOn(process, 'emitWarning').mockImplementation();
		const body = new PassThrough();
		const listeners = () => body.listenerCount('readable') + body.listenerCount('close');
		const counts: number[] = [];
		const send = (rest: number) => {
			if (rest > 0) {
				body.write(BINARY);
				counts.push(listeners());
				setImmediate(() => send(rest - 1));
			} else body.end();
		};
		send(60);
		const { binary } = await downloading({ bodyOf: async () => body });
		expect(binary.bytes).toBe(60);
		expect(Math.max(...counts)).toBeLessThan(EventEmitter.defaultMaxListeners);
		expect(warned).not.toHaveBeenCalled();
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

	it('is no success if its 206 says that it is whole', async () => {
		const headersOf = () => ({ 'content-range': 'bytes 0-99/100' });
		const running = downloading({ bodyOf: async () => short(), statusCode: 206, headersOf });
		await expect(running).rejects.toThrow('60 of 100 bytes');
	});
});

describe('a storage of n8n that does not answer', () => {
	it('is an error of the item with its ID, and the next download gets its place', async () => {
		const places = limit(1);
		const never = async () => await new Promise<never>(() => undefined);
		const timers = jest.spyOn(AbortSignal, 'timeout');
		timers.mockImplementation(() => {
			const passed = new AbortController();
			setImmediate(() => passed.abort());
			return passed.signal;
		});
		const hanging = downloading({
			bodyOf: async () =>
				Object.assign(new PassThrough().end(BINARY.repeat(5_000)), { complete: true }),
			store: async (whole) => {
				await bytesOf(whole);
				return await never();
			},
			limited: places,
		});
		await expect(hanging).rejects.toMatchObject({
			message: 'n8n could not store the output',
			description: expect.stringContaining('did not respond in time') as string,
			generation: { id: 'generation-1' },
		});
		timers.mockRestore();
		const next = await downloading({ bodyOf: async () => file(), limited: places });
		expect(next.binary).toEqual({ bytes: 100 });
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

	it('is requested again if another item has taken it', async () => {
		const taken = inline();
		takeInlineFile(taken);
		const refresh = async () => inline();
		const { binary } = await downloading({ bodyOf: noRequest, generation: taken, refresh });
		expect(binary).toEqual({ bytes: PNG.length });
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
