import { EventEmitter, once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';

import type { IHttpRequestOptions } from 'n8n-workflow';

import { CancelledError, GenerationError } from '../../client/wire/errors';
import { readGeneration, type Generation } from '../../client/wire/generation';
import { wallClock } from '../../nodes/shared/clock';
import { download, type DownloadRequest } from '../../nodes/shared/download';
import { wireGeneration, type WireFields } from '../support/answers';
import { contextOf } from '../support/context';
import { VirtualTime } from '../support/virtual-time';

beforeEach(() => void jest.spyOn(wallClock, 'sleep').mockResolvedValue());

afterEach(() => jest.restoreAllMocks());

const made = (fields: WireFields) => readGeneration(wireGeneration(fields), 0) as Generation;
const generation = made({ status: 'completed' });

interface World extends Partial<Pick<DownloadRequest, 'generation' | 'refresh' | 'signal'>> {
	/** Asked once for each try. */
	bodyOf: (options: IHttpRequestOptions) => Promise<Readable>;
	/** The same for each try, or one for each, and the last one ever after. */
	statusCode?: number | number[];
	/** What n8n's storage does with a body. */
	store?: (whole: Buffer | Readable) => Promise<object>;
}

async function bytesOf(whole: Buffer | Readable): Promise<object> {
	let bytes = Buffer.isBuffer(whole) ? whole.length : 0;
	if (!Buffer.isBuffer(whole)) for await (const chunk of whole) bytes += (chunk as Buffer).length;
	return { bytes };
}

async function downloading({ bodyOf, statusCode = 200, store = bytesOf, ...given }: World) {
	const statuses = [statusCode].flat();
	const { context } = contextOf({
		helpers: {
			httpRequest: async (options: IHttpRequestOptions) => {
				const [status] = statuses.length > 1 ? statuses.splice(0, 1) : statuses;
				return { statusCode: status, headers: {}, body: await bodyOf(options) };
			},
			prepareBinaryData: store,
		},
	});
	const { signal } = new AbortController();
	const refresh = async () => generation;
	return await download(context, { generation, fileName: 'a', refresh, signal, ...given });
}

/** A body of a hundred bytes. */
const file = () => new PassThrough().end('x'.repeat(100));

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

/** A body that never ends. */
function endless(first: string): Readable {
	const body = new PassThrough();
	body.write(first);
	return body;
}

describe('an answer that is not the output', () => {
	it.each([
		['a refusal', 500, ''],
		['a page', 200, '<!doctype html>'.padEnd(100)],
	])('is read no further, however long it is: %s', async (_, statusCode, first) => {
		const bodies: Readable[] = [];
		const bodyOf = async () => bodies[bodies.push(endless(first)) - 1];
		await expect(downloading({ bodyOf, statusCode })).rejects.toMatchObject({ status: statusCode });
		expect(bodies.map(({ destroyed }) => destroyed)).toEqual([true, true, true, true, true]);
	});
});

describe('a file that is said to be missing', () => {
	it('is asked for for five minutes, since caches remember that of before it was there', async () => {
		let now = 0;
		jest.spyOn(wallClock, 'now').mockImplementation(() => now);
		jest.spyOn(wallClock, 'sleep').mockImplementation(async (ms) => void (now += ms));
		const bodyOf = async () => endless('');
		await expect(downloading({ bodyOf, statusCode: 404 })).rejects.toMatchObject({ status: 404 });
		expect(now).toBeGreaterThanOrEqual(300_000);
		expect(now).toBeLessThan(360_000);
	});
});

describe('a body of which hardly anything comes', () => {
	/** Windows pass as soon as they have begun. */
	const windows = () =>
		jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
			const passed = new AbortController();
			setImmediate(() => passed.abort());
			return passed.signal;
		});

	it.each(['', 'x', 'x'.repeat(1000)])('is given up, and begun again: %#', async (first) => {
		windows();
		const bodies: Readable[] = [];
		const bodyOf = async () => bodies[bodies.push(endless(first)) - 1];
		await expect(downloading({ bodyOf })).rejects.toMatchObject({
			message: 'The download made hardly any headway',
			code: 'download_failed',
			charge: 'paid',
		});
		expect(bodies).toHaveLength(5);
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
		await expect(downloading({ bodyOf })).rejects.toThrow('hardly any headway');
		expect(bodies.map(({ destroyed }) => destroyed)).toEqual([true, true, true, true, true]);
	});

	it('is one that drips without an end', async () => {
		windows();
		const drip = (body: PassThrough) => {
			if (body.destroyed) return;
			body.write('x'.repeat(1000));
			setImmediate(() => drip(body));
		};
		const bodies: Readable[] = [];
		const bodyOf = async () => {
			const body = new PassThrough();
			bodies.push(body);
			drip(body);
			return body;
		};
		await expect(downloading({ bodyOf })).rejects.toThrow('hardly any headway');
		expect(bodies).toHaveLength(5);
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

	it('warns of no leak while its first bytes trickle in', async () => {
		const warned = jest.spyOn(process, 'emitWarning').mockImplementation();
		const body = new PassThrough();
		const listeners = () => body.listenerCount('readable') + body.listenerCount('close');
		const counts: number[] = [];
		const send = (rest: number) => {
			if (rest > 0) {
				body.write('x');
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

describe('a try of a download', () => {
	it('asks for the file as it is stored, without the key, and not for ever', async () => {
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

	it('hands its file on as a stream that nobody has touched: n8n’s storage may pipe it', async () => {
		const store = async (whole: Buffer | Readable) =>
			await bytesOf((whole as Readable).pipe(new PassThrough()));
		const bodyOf = async () => new PassThrough().end(Buffer.alloc(1_000_000, 1));
		expect((await downloading({ bodyOf, store })).binary.bytes).toBe(1_000_000);
	});

	it('that breaks when nobody reads it any more ends nothing else', async () => {
		const bodies: Readable[] = [];
		const bodyOf = async () => bodies[bodies.push(endless('')) - 1];
		await expect(downloading({ bodyOf, statusCode: 500 })).rejects.toMatchObject({ status: 500 });
		expect(() => bodies[0].emit('error', new Error('reset'))).not.toThrow();
	});
});

describe('a download that is begun again', () => {
	const fresh = made({ status: 'completed', url: 'https://storage.example.com/fresh.png' });
	const unnamed = { ...generation, item: { ...generation.item, url: null } };
	const broken = new GenerationError({ title: 'Down', description: '', code: 'down' });

	/** The addresses that were asked, of tries that are answered with these statuses. */
	async function addresses(statusCode: number[], given: Partial<World> = {}) {
		const asked: unknown[] = [];
		const bodyOf = async ({ url }: IHttpRequestOptions) => {
			asked.push(url);
			return asked.length < statusCode.length ? endless('') : file();
		};
		const refresh = jest.fn(async () => fresh);
		const downloaded = await downloading({ bodyOf, statusCode, refresh, ...given });
		return { asked, downloaded, refresh };
	}

	it('has the file by its fresh URL, and hands that on', async () => {
		const { asked, downloaded } = await addresses([403, 200]);
		expect(asked).toEqual([generation.item.url, fresh.item.url]);
		expect(downloaded.generation).toEqual(fresh);
	});

	it('asks for a URL first where there is none', async () => {
		const { asked, downloaded } = await addresses([200], { generation: unnamed });
		expect(asked).toEqual([fresh.item.url]);
		expect(downloaded.generation).toEqual(fresh);
	});

	it('asks for no other URL where only the connection broke', async () => {
		const refresh = jest.fn(async () => fresh);
		let tries = 0;
		const bodyOf = async () => {
			if (++tries === 1) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
			return file();
		};
		await downloading({ bodyOf, refresh });
		expect([tries, refresh.mock.calls.length]).toEqual([2, 0]);
	});

	it.each([404, 500])(
		'goes on with the URL in hand while the service is in trouble: after a %d',
		async (status) => {
			const refresh = async () => await Promise.reject(broken);
			const { asked } = await addresses([status, 200], { refresh });
			expect(asked).toEqual([generation.item.url, generation.item.url]);
		},
	);

	it.each<[string, number[], Generation]>([
		['refused', [403, 200], generation],
		['missing', [200], unnamed],
	])('says what the service says where its URL is %s', async (_, statuses, before) => {
		const refresh = async () => await Promise.reject(broken);
		await expect(addresses(statuses, { generation: before, refresh })).rejects.toBe(broken);
	});

	it('waits for nothing where its URL has expired, but does where the fresh one is refused, too', async () => {
		await addresses([403, 200]);
		expect(wallClock.sleep).not.toHaveBeenCalled();
		await addresses([403, 403, 403, 200]);
		expect(wallClock.sleep).toHaveBeenCalledTimes(2);
	});

	it('is no error of the file where the generation has failed after all, which was refunded', async () => {
		const refresh = async () => made({ status: 'failed', error: 'no paint' });
		await expect(addresses([404, 200], { refresh })).rejects.toMatchObject({
			code: 'generation_failed',
			charge: 'refunded',
		});
	});
});

describe('a stop', () => {
	it('ends the pause before the next try, and nothing is asked for any more', async () => {
		const time = new VirtualTime(0);
		const sleep = jest.spyOn(wallClock, 'sleep');
		sleep.mockImplementation(async (ms, signal) => await time.sleep(ms, signal));
		const stop = new AbortController();
		const refresh = jest.fn(async () => generation);
		const bodyOf = async () => endless('');
		time.at(100, () => stop.abort());
		const running = downloading({ bodyOf, statusCode: 500, refresh, signal: stop.signal });
		await expect(time.run(running)).rejects.toThrow(CancelledError);
		expect([time.now(), refresh.mock.calls.length]).toEqual([100, 0]);
	});

	it.each([1, 5])('ends a try whose answer never comes: the %d.', async (which) => {
		const stop = new AbortController();
		const signals: Array<AbortSignal | undefined> = [];
		const bodyOf = async ({ abortSignal }: IHttpRequestOptions) => {
			if (signals.push(abortSignal as AbortSignal) < which) throw new Error('reset');
			setImmediate(() => stop.abort());
			return await new Promise<never>(() => undefined);
		};
		await expect(downloading({ bodyOf, signal: stop.signal })).rejects.toThrow(CancelledError);
		expect(signals).toHaveLength(which);
		expect(signals.at(-1)?.aborted).toBe(true);
	});

	it('does not wait for a storage of n8n that comes to no end', async () => {
		const stop = new AbortController();
		const store = async () => {
			setImmediate(() => stop.abort());
			return await new Promise<never>(() => undefined);
		};
		const running = downloading({ bodyOf: async () => file(), store, signal: stop.signal });
		await expect(running).rejects.toThrow(CancelledError);
	});

	it('before its turn has come lets nothing be asked for', async () => {
		const bodyOf = jest.fn(async () => file());
		await expect(downloading({ bodyOf, signal: AbortSignal.abort() })).rejects.toThrow(
			CancelledError,
		);
		expect(bodyOf).not.toHaveBeenCalled();
	});
});

describe('what keeps an output away', () => {
	const failing = (fields: object) => Object.assign(new Error('Failed'), fields);

	it.each<[string, RegExp, number, object]>([
		['a disk that is full', /no room left/, 1, { code: 'ENOSPC' }],
		['a folder that cannot be written', /cannot write/, 1, { code: 'EACCES' }],
		['a certificate', /certificate/, 1, { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }],
		['a certificate for another host', /certificate/, 1, { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }],
		['n8n’s own protection', /does not allow/, 1, { name: 'SsrfBlockedIpError' }],
		['a name that does not resolve', /name.*resolved/, 5, { code: 'ENOTFOUND' }],
		['a port that is closed', /cannot be reached/, 5, { code: 'ECONNREFUSED' }],
		['silence', /did not answer in time/, 5, { code: 'ECONNABORTED' }],
		['a reset', /broke off/, 5, { code: 'ECONNRESET' }],
		['what has no name', /could not be downloaded/, 5, {}],
	])('is said, and tried again where that may help: %s', async (_, title, tries, fields) => {
		let begun = 0;
		const bodyOf = async () => {
			begun++;
			throw new Error('Wrapped', { cause: failing(fields) });
		};
		await expect(downloading({ bodyOf })).rejects.toMatchObject({
			message: expect.stringMatching(title),
			description: expect.stringContaining('paid for'),
			code: 'download_failed',
			charge: 'paid',
		});
		expect(begun).toBe(tries);
	});

	it('is said of n8n’s storage, too', async () => {
		let stored = 0;
		const store = async () => {
			stored++;
			throw failing({ code: 'ENOSPC' });
		};
		const bodyOf = async () => endless('x'.repeat(100));
		await expect(downloading({ bodyOf, store })).rejects.toThrow('no room left');
		expect(stored).toBe(1);
	});
});
