import type { IBinaryData } from 'n8n-workflow';

import type { Hold } from '../../../client/api/hold';
import { debugLog } from '../execution';
import { toResult, withTimeout } from '../../../client/async';
import { errorOfEnd } from '../../../client/jobs/outcome';
import { backoffDelay, decideRetry } from '../../../client/api/retry';
import { retryAfterMs } from '../../../client/api/retry-after';
import { CancelledError, type GenerationError } from '../../../client/api/errors';
import { isCompleted, takeInlineFile, type Generation } from '../../../client/api/generation';
import { amount, inSeconds } from '../../../client/text';
import { NOT_YET } from '../../../client/watch/prober';
import { contentOf, safeFileName, SNIFF_BYTES } from './media-type';
import { countArrived, keepsArriving, peek, type ByteStream } from './byte-stream';
import { requestClock, wallClock } from './clock';
import {
	badOutput,
	downloadError,
	errorFromDownload,
	notStored,
	textInstead,
} from './download-errors';
import { openStream, withRequest } from './request';
import { fileOf, type FileSizes } from './transport';
import type { Step } from '../step';

/** Maximum number of retries. Until `patienceMs` is over, transient errors (`isForNow`) are retried without this limit. */
const MAX_RETRIES = 4;

/** Milliseconds with almost no data after which a download counts as stalled. Its total time has no limit. */
const IDLE_TIMEOUT_MS = 60_000;

export interface DownloadRequest {
	generation: Generation;
	/** The requested file name. It is sanitized, and its extension is adapted to the media type. */
	fileName: string;
	/** Fetches the generation's status with a fresh URL (spec 4.3). */
	refresh: () => Promise<Generation>;
	signal: AbortSignal;
	/** The pause that the storage has asked for (`Retry-After`). All downloads of the step share it. */
	hold: Hold;
	/** The sizes of files that are known from probes. */
	sizes: FileSizes;
	/** How long transient errors are retried, counted from the start of the first try, in milliseconds: the item's timeout. */
	patienceMs: number;
	/** Runs one try within the limit of concurrent downloads. Between two tries, other downloads can run. */
	limited: <T>(tryOnce: () => Promise<T>) => Promise<T>;
}

/**
 * Streams a generation's output from its presigned URL into n8n's storage. Returns the file, and the generation with its
 * latest URL. Throws GenerationError if the file is unavailable or the generation failed; CancelledError on an abort.
 */
export async function download(
	step: Step,
	request: DownloadRequest,
): Promise<{ binary: IBinaryData; generation: Generation }> {
	const { signal, patienceMs, hold, limited } = request;
	let { generation } = request;
	// Set when the first try begins, so that the time in the queue of downloads does not count.
	let until: number | null = null;
	for (let retries = 0; ; ) {
		const tried = await toResult(
			async () =>
				await limited(async () => {
					until ??= wallClock.now() + patienceMs;
					// A loop, because all downloads of the step share `hold`: another download may extend it during this sleep.
					while (hold.leftMs > 0 && wallClock.now() < until && !signal.aborted) {
						await wallClock.sleep(Math.min(hold.leftMs, until - wallClock.now()), signal);
					}
					signal.throwIfAborted();
					return await fetchOnce(step, generation, request);
				}),
		);
		if (tried.ok) return { binary: tried.value, generation };
		if (signal.aborted) throw new CancelledError();
		const error = errorFromDownload(tried.error);
		hold.note(error);
		const leftMs = (until ?? 0) - wallClock.now();
		const isHeldTooLong = error.retryAfterMs !== null && hold.leftMs > leftMs;
		const maxRetries = isForNow(error) && leftMs > 0 ? Infinity : MAX_RETRIES;
		if (isHeldTooLong || decideRetry(error, { retries, maxRetries }) !== 'backoff') {
			throw downloadError(error, generation);
		}
		const { id } = generation.item;
		debugLog(step)(`the download of ${id} is repeated (${error.code}, HTTP ${error.status})`);
		// A 403 means that the URL expired: if the first error is a 403, retry at once with a fresh URL. Other retries wait.
		if (error.status !== 403 || retries > 0) {
			const pauseMs = backoffDelay(retries, Math.random);
			await wallClock.sleep(leftMs > 0 ? Math.min(pauseMs, leftMs) : pauseMs, signal);
		}
		// A retry after a pause that the storage has asked for (`Retry-After`) is not counted.
		if (error.retryAfterMs === null) retries++;
		if (signal.aborted) throw new CancelledError();
		// Without an HTTP status, the storage has not rejected the current URL: use it again.
		if (error.status === null && generation.item.url !== null) continue;
		const fresh = await toResult(request.refresh);
		// If the status check fails, the current URL may still work, unless the storage rejected it.
		if (!fresh.ok) {
			if (error.status === 403 || generation.item.url === null) throw fresh.error;
			continue;
		}
		// If the generation ended without an output after all, that explains the failed download.
		const ended = isCompleted(fresh.value) ? null : errorOfEnd(fresh.value);
		if (ended) throw ended;
		generation = withUrlOf(generation, fresh.value);
	}
}

/** True for a transient error: the storage was not reached, broke off, is busy, or does not have the file yet. */
function isForNow({ status }: GenerationError): boolean {
	return (
		status === null || status === 408 || status === 429 || status >= 500 || NOT_YET.has(status)
	);
}

/** Takes only the URL of a fresh response: its status may lag behind. With an inline file, takes the whole response. */
function withUrlOf(generation: Generation, fresh: Generation): Generation {
	const { url, url_expires_at } = fresh.item;
	if (fresh.isInline) return fresh;
	if (url === null) return generation;
	return { ...generation, item: { ...generation.item, url, url_expires_at } };
}

/** Tries the download once. The connection is always closed afterwards, so no unneeded data is read. */
async function fetchOnce(
	step: Step,
	generation: Generation,
	{ fileName, signal, sizes }: DownloadRequest,
): Promise<IBinaryData> {
	return await withRequest({ signal }, async (request) => {
		const { url } = generation.item;
		if (url === null) {
			const bytes = takeInlineFile(generation);
			if (bytes === null) throw badOutput('The service returned no output', null);
			return await store(step, bytes, bytes, fileName);
		}
		// n8n's own timeout starts only once a proxy has connected, so `withTimeout` limits the whole wait for the response.
		const response = await withTimeout(
			requestClock,
			2 * IDLE_TIMEOUT_MS,
			request.signal,
			async () => await openStream(step.n8n, url, request.signal, { timeout: IDLE_TIMEOUT_MS }),
		);
		const stalled = badOutput('The download stalled', null);
		if (response === null) throw stalled;
		const { statusCode: status, headers, body } = response;
		const whole = wholeSize(headers['content-range']);
		if (status === 206 && whole === null) {
			throw badOutput('The storage returned only a part of the file', status);
		}
		if (status !== 200 && status !== 206) {
			const title = `The storage returned HTTP ${status} instead of the file`;
			const asked = retryAfterMs({ status, body: null, headers }, wallClock.now());
			throw badOutput(title, status).with({
				retryAfterMs: asked,
				description: asked === null ? '' : `It asks to wait ${inSeconds(asked)} (Retry-After)`,
			});
		}
		const arrived = countArrived(body);
		void keepsArriving(arrived, IDLE_TIMEOUT_MS, request.signal).then((isWhole) => {
			if (!isWhole) request.abort(stalled);
		});
		const head = await peek(body);
		const all = head.length < SNIFF_BYTES ? head : body;
		const binary = await store(step, all, head, fileName, status, headers['content-type']);
		// Content-Length is not compared: n8n already rejects a shorter body, and the header may count compressed bytes.
		const size = Math.max(whole ?? 0, sizes.get(fileOf(url)) ?? 0);
		if (arrived.bytes >= size) return binary;
		const title = `The download ended after ${amount(arrived.bytes)} of ${amount(size)} bytes`;
		throw badOutput(title, null);
	});
}

/** Stores a file in n8n. Throws GenerationError, or n8n's own error if the stream broke before its end. */
async function store(
	{ n8n }: Step,
	whole: Buffer | ByteStream,
	head: Buffer,
	name: string,
	status: number | null = null,
	stated?: string,
): Promise<IBinaryData> {
	if (head.length === 0) throw badOutput('The storage returned an empty file', status);
	// A cache may have stored the response to a probe, which requests only the first byte, and return it now.
	if (head.length === 1) throw badOutput('The storage returned only one byte', status);
	const content = contentOf(stated, head);
	if ('text' in content) throw textInstead(content.text, status);
	const { mimeType } = content;
	try {
		return await n8n.helpers.prepareBinaryData(whole, safeFileName(name, mimeType), mimeType);
	} catch (error) {
		throw 'readableEnded' in whole && !whole.readableEnded ? error : notStored(error);
	}
}

/** Returns a file's size in bytes if the `Content-Range` covers all of it, as `bytes 0-99/100` does; otherwise `null`. */
function wholeSize(contentRange = ''): number | null {
	const [, last, size] = /^bytes 0-(\d+)\/(\d+)$/i.exec(contentRange) ?? [];
	return size !== undefined && Number(last) + 1 === Number(size) ? Number(size) : null;
}
