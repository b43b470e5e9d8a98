import { PassThrough, type Readable } from 'node:stream';

import type { IHttpRequestOptions } from 'n8n-workflow';

import { Hold } from '../../../client/api/hold';
import { limit } from '../../../client/async';
import { readGeneration, type Generation } from '../../../client/api/generation';
import { wallClock } from '../../../nodes/shared/http/clock';
import { download, type DownloadRequest } from '../../../nodes/shared/http/download';
import { wireGeneration, type WireFields } from '../../support/answers';
import { contextOf } from '../../support/context';

/** An hour of the real time, in which the URLs are valid. */
const created = Math.floor(Date.now() / 1000);
export const made = (fields: WireFields) =>
	readGeneration(wireGeneration({ created, ...fields }), 0) as Generation;
/** The generation whose output is fetched. */
export const generation = made({ status: 'completed' });

/** The conditions of a download. */
export interface World
	extends Partial<
		Pick<
			DownloadRequest,
			'generation' | 'refresh' | 'signal' | 'hold' | 'sizes' | 'limited' | 'patienceMs'
		>
	> {
	/** Called once for each try. */
	bodyOf: (options: IHttpRequestOptions) => Promise<Readable>;
	/** One status for all tries, or a list with one for each; the last one repeats. */
	statusCode?: number | number[];
	/** The headers of the next response. */
	headersOf?: () => Record<string, string>;
	/** How n8n's storage stores a body. */
	store?: (whole: Buffer | Readable) => Promise<object>;
}

/** A storage that counts bytes. */
export async function bytesOf(whole: Buffer | Readable): Promise<object> {
	let bytes = Buffer.isBuffer(whole) ? whole.length : 0;
	if (!Buffer.isBuffer(whole)) for await (const chunk of whole) bytes += (chunk as Buffer).length;
	return { bytes };
}

/** Downloads from a storage that responds with these bodies and statuses. */
export async function downloading({
	bodyOf,
	statusCode = 200,
	headersOf = () => ({}),
	store = bytesOf,
	...given
}: World) {
	const statuses = [statusCode].flat();
	const { step } = contextOf({
		helpers: {
			httpRequest: async (options: IHttpRequestOptions) => {
				const [status] = statuses.length > 1 ? statuses.splice(0, 1) : statuses;
				return { statusCode: status, headers: headersOf(), body: await bodyOf(options) };
			},
			prepareBinaryData: store,
		},
	});
	const { signal } = new AbortController();
	const refresh = async () => generation;
	const hold = new Hold(wallClock);
	const usual = { generation, fileName: 'a', refresh, signal, patienceMs: 600_000 };
	const shared = { hold, sizes: new Map<string, number>(), limited: limit(1) };
	return await download(step, { ...usual, ...shared, ...given });
}

/** Lets pauses pass at once, by a clock that advances with them. Returns the pauses in milliseconds. */
export function passingTime(): number[] {
	const pauses: number[] = [];
	let now = Date.now();
	jest.spyOn(wallClock, 'now').mockImplementation(() => now);
	jest.spyOn(wallClock, 'sleep').mockImplementation(async (ms) => {
		pauses.push(ms);
		now += ms;
	});
	return pauses;
}

/** A byte that does not occur in text. */
export const BINARY = '\x01';

/** A body of a hundred bytes. */
export const file = () => new PassThrough().end(BINARY.repeat(100));

/** A body that never ends. */
export function endless(first: string): Readable {
	const body = new PassThrough();
	body.write(first);
	return body;
}
