import { PassThrough, type Readable } from 'node:stream';

import type { IHttpRequestOptions } from 'n8n-workflow';

import { CancelledError } from '../../../client/api/errors';
import { wallClock } from '../../../nodes/shared/http/clock';
import { VirtualTime } from '../../support/virtual-time';
import {
	BINARY,
	bytesOf,
	downloading,
	endless,
	file,
	generation,
	made,
	passingTime,
	type World,
} from './downloading';

beforeEach(() => void passingTime());

afterEach(() => jest.restoreAllMocks());

describe('a restarted download', () => {
	const fresh = made({ status: 'completed', url: 'https://storage.example.com/fresh.png' });

	/** Returns the URLs requested by tries that are answered with these statuses. */
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

	it('fetches the file by its fresh URL, and returns that URL', async () => {
		const { asked, downloaded } = await addresses([403, 200]);
		expect(asked).toEqual([generation.item.url, fresh.item.url]);
		expect(downloaded.generation).toEqual(fresh);
	});

	it('requests no other URL if only the connection broke', async () => {
		const refresh = jest.fn(async () => fresh);
		let tries = 0;
		const bodyOf = async () => {
			if (++tries === 1) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
			return file();
		};
		await downloading({ bodyOf, refresh });
		expect([tries, refresh.mock.calls.length]).toEqual([2, 0]);
	});

	it.each([
		['its status cannot be checked', async () => await Promise.reject(new Error('down'))],
		['its status has no URL', async () => made({ status: 'processing', url: null })],
	])('uses its URL again if %s', async (_, refresh) => {
		const { asked } = await addresses([500, 200], { refresh });
		expect(asked).toEqual([generation.item.url, generation.item.url]);
	});

	it('ends with the error of the status check if the storage rejected the only known URL', async () => {
		const refresh = async () => await Promise.reject(new Error('down'));
		await expect(addresses([403, 200], { refresh })).rejects.toThrow('down');
	});

	it('is not a download error if the generation has failed and was refunded', async () => {
		const refresh = async () => made({ status: 'failed', error: 'no paint' });
		await expect(addresses([404, 200], { refresh })).rejects.toMatchObject({
			code: 'generation_failed',
			charge: 'refunded',
		});
	});
});

describe('a stop', () => {
	it('ends the backoff before the next try, and sends no more requests', async () => {
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
});

describe('a download failure', () => {
	const failing = (fields: object) => Object.assign(new Error('Failed'), fields);

	it.each<[string, RegExp, number, object]>([
		['a disk that is full', /n8n could not store/, 1, { code: 'ENOSPC' }],
		['a folder that cannot be written', /n8n could not store/, 1, { code: 'EACCES' }],
		['a certificate', /certificate/, 1, { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }],
		['n8n’s own protection', /does not allow requests/, 1, { name: 'SsrfBlockedIpError' }],
		['a name that does not resolve', /name does not exist/, 6, { code: 'ENOTFOUND' }],
		['a port that is closed', /cannot be reached/, 6, { code: 'ECONNREFUSED' }],
		['a reset', /could not be downloaded/, 6, { code: 'ECONNRESET' }],
		['what has no name', /could not be downloaded/, 6, {}],
	])('is said, and tried again where that may help: %s', async (_, title, tries, fields) => {
		let begun = 0;
		const bodyOf = async () => {
			begun++;
			throw new Error('Wrapped', { cause: failing(fields) });
		};
		await expect(downloading({ bodyOf })).rejects.toMatchObject({
			message: expect.stringMatching(title),
			code: 'download_failed',
			charge: 'paid',
		});
		// Transient errors are retried until Timeout.
		expect(Math.min(begun, 6)).toBe(tries);
	});

	/** n8n's storage, which reads a whole body and then fails. */
	const unstored = async (cause: Error, bytes = 5000) => {
		let tries = 0;
		const bodyOf = async () => {
			tries++;
			return new PassThrough().end(BINARY.repeat(bytes));
		};
		const store = async (whole: Buffer | Readable) => {
			await bytesOf(whole);
			throw new Error(`Request to S3 failed: ${cause.message}`, { cause });
		};
		const error: unknown = await downloading({ bodyOf, store }).catch((thrown: unknown) => thrown);
		return { error, tries };
	};

	it.each([
		['once, if it may not write', 5000, 1, { code: 'AccessDenied' }],
		['again, if it cannot be reached', 5000, 6, { code: 'ECONNREFUSED', syscall: 'connect' }],
		[
			'once, if the file is too large for it',
			5000,
			1,
			{ message: 'Failed: its size exceeds the max size limit' },
		],
	])(
		'of n8n’s own storage is not one of the service’s, and is tried %s',
		async (_, bytes, times, fields) => {
			const { error, tries } = await unstored(failing(fields), bytes);
			expect(error).toMatchObject({
				message: 'n8n could not store the output',
				description: expect.stringContaining('n8n says: Request to S3 failed: Failed'),
				code: 'download_failed',
				charge: 'paid',
			});
			expect(Math.min(tries, 6)).toBe(times);
		},
	);
});
