import { EventEmitter, once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';

import { readGeneration, type Generation } from '../../client/wire/generation';
import { wallClock } from '../../nodes/shared/clock';
import { download } from '../../nodes/shared/download';
import { wireGeneration } from '../support/answers';
import { contextOf } from '../support/context';

beforeEach(() => void jest.spyOn(wallClock, 'sleep').mockResolvedValue());

afterEach(() => jest.restoreAllMocks());

const generation = readGeneration(wireGeneration({ status: 'completed' }), 0) as Generation;

interface World {
	/** Asked once for each try. */
	bodyOf: () => Promise<Readable>;
	statusCode?: number;
	/** What n8n's storage does with a body. */
	store?: (whole: Buffer | Readable) => Promise<object>;
}

async function bytesOf(whole: Buffer | Readable): Promise<object> {
	let bytes = Buffer.isBuffer(whole) ? whole.length : 0;
	if (!Buffer.isBuffer(whole)) for await (const chunk of whole) bytes += (chunk as Buffer).length;
	return { bytes };
}

async function downloading({ bodyOf, statusCode = 200, store = bytesOf }: World) {
	const { context } = contextOf({
		helpers: {
			httpRequest: async () => ({ statusCode, headers: {}, body: await bodyOf() }),
			prepareBinaryData: store,
		},
	});
	const { signal } = new AbortController();
	const refresh = async () => generation;
	return await download(context, { generation, fileName: 'a', refresh, signal });
}

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

	it('is not one that only takes long', async () => {
		windows();
		const body = new PassThrough();
		const send = (rest: number) => {
			if (rest > 0) {
				body.write(Buffer.alloc(64 * 1024, 1));
				setImmediate(() => send(rest - 1));
			} else body.end();
		};
		send(20);
		const { binary } = await downloading({ bodyOf: async () => body });
		expect(binary.bytes).toBe(20 * 64 * 1024);
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
