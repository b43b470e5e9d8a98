import type { IBinaryData } from 'n8n-workflow';

import { Hold } from '../../../client/api/hold';
import { debugLog } from '../execution';
import { atDeadline, onAbort, raceAbort, toResult } from '../../../client/async';
import { errorOfEnd } from '../../../client/jobs/outcome';
import { backoffDelay, decideRetry, mostRetries } from '../../../client/api/retry';
import { retryAfterMs } from '../../../client/api/retry-after';
import { CancelledError } from '../../../client/api/errors';
import { isCompleted, type Generation } from '../../../client/api/generation';
import { NOT_YET } from '../../../client/watch/prober';
import { isDocument, leadingText, mediaType, safeFileName, SNIFF_BYTES } from './media-type';
import { peek, watchHeadway, type ByteStream } from './byte-stream';
import { requestClock, wallClock } from './clock';
import {
	errorFromDownload,
	badOutput,
	downloadError,
	notStored,
	notTheFile,
	stalled,
	textInstead,
} from './download-errors';
import type { Step } from '../step';

/** Maximum number of retries, except for a file that is missing. */
const MAX_RETRIES = 4;

/** Default of `patienceMs`, in milliseconds. */
const LONGEST_WAIT_MS = 600_000;

/** Milliseconds to keep retrying while the file is not there yet. Caches may remember for minutes that the file was missing. */
const MISSING_PATIENCE_MS = 300_000;

/**
 * Milliseconds with almost no data after which a download counts as stalled. There is no limit on the total
 * time.
 */
const IDLE_TIMEOUT_MS = 60_000;

export interface DownloadRequest {
	generation: Generation;
	/** The requested file name. It is sanitized, and its extension is adapted to the media type. */
	fileName: string;
	/** Fetches the generation's status with a fresh URL (spec 4.3). */
	refresh: () => Promise<Generation>;
	signal: AbortSignal;
	/** Until when the storage has asked the step to download nothing. */
	hold?: Hold;
	/** How long to wait at most if the storage asks for it, in milliseconds: the timeout of the item. */
	patienceMs?: number;
	/** Limits concurrency for one try. Other downloads run between two tries. */
	limited?: <T>(tryOnce: () => Promise<T>) => Promise<T>;
	/** Milliseconds; overrides `IDLE_TIMEOUT_MS`. */
	idleTimeoutMs?: number;
}

/**
 * Streams a generation's output from its presigned URL into n8n's storage, and returns it only when it is
 * complete. The API key is never sent to that URL. An expired URL is replaced, and a broken download is
 * retried.
 *
 * @returns the file, and the generation as last fetched, whose URL may be new
 * @throws GenerationError with the generation's id and URL if the file is unavailable, or if the generation
 * failed after all
 * @throws CancelledError after a stop
 */
export async function download(
	step: Step,
	request: DownloadRequest,
): Promise<{ binary: IBinaryData; generation: Generation }> {
	const { signal, limited = async (tryOnce) => await tryOnce() } = request;
	const { hold = new Hold(wallClock), patienceMs = LONGEST_WAIT_MS } = request;
	let { generation } = request;
	let since = wallClock.now();
	for (let retries = 0; ; ) {
		// A clock that was set back does not extend the patience.
		since = Math.min(since, wallClock.now());
		const tried = await toResult(
			async () =>
				await limited(async () => {
					// Another download of the step may have been told to wait.
					const waitMs = Math.min(hold.leftMs, since + patienceMs - wallClock.now());
					if (waitMs > 0) await wallClock.sleep(waitMs, signal);
					signal.throwIfAborted();
					generation = await withFreshUrl(generation, request.refresh);
					return await fetchOnce(step, generation, request);
				}),
		);
		if (tried.ok) return { binary: tried.value, generation };
		if (signal.aborted) throw new CancelledError();
		const error = errorFromDownload(tried.error);
		hold.note(error);
		if (error.retryAfterMs !== null && hold.until > since + patienceMs) {
			throw downloadError(error, generation);
		}
		const mayAppear = NOT_YET.has(error.status) && wallClock.now() - since < MISSING_PATIENCE_MS;
		const maxRetries = mayAppear ? Infinity : mostRetries(error, MAX_RETRIES);
		if (decideRetry(error, { retries, maxRetries }) !== 'backoff') {
			throw downloadError(error, generation);
		}
		const { id } = generation.item;
		debugLog(step)(`the download of ${id} is repeated (${error.code}, HTTP ${error.status})`);
		// A 403 means that the URL expired. Retry immediately with a fresh URL; wait before any other retry.
		if (error.status !== 403 || retries > 0) {
			await wallClock.sleep(backoffDelay(retries, Math.random), signal);
		}
		// A pause that the storage has asked for is no failed retry.
		if (error.retryAfterMs === null) retries++;
		if (signal.aborted) throw new CancelledError();
		// After a connection error the current URL is still valid.
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

/** Replaces a URL that expired while the download waited for its turn. */
async function withFreshUrl(
	generation: Generation,
	refresh: () => Promise<Generation>,
): Promise<Generation> {
	const { url_expires_at: expiry } = generation.item;
	if (expiry === null || wallClock.now() < Date.parse(expiry)) return generation;
	const fresh = await toResult(refresh);
	return fresh.ok ? withUrlOf(generation, fresh.value) : generation;
}

/** Copies only the fresh URL. A lagging replica may still report a non-final status. */
function withUrlOf(
	generation: Generation,
	{ item: { url, url_expires_at } }: Generation,
): Generation {
	if (url === null) return generation;
	return { ...generation, item: { ...generation.item, url, url_expires_at } };
}

/** Tries the download once. The connection is always closed afterwards, so no unneeded data is read. */
async function fetchOnce(
	step: Step,
	generation: Generation,
	{ fileName, signal, idleTimeoutMs = IDLE_TIMEOUT_MS }: DownloadRequest,
): Promise<IBinaryData> {
	const connection = new AbortController();
	const answered = new AbortController();
	const forget = onAbort(signal, () => connection.abort());
	// n8n's own timeout does not start before a proxy has connected.
	atDeadline(requestClock, 2 * idleTimeoutMs, answered.signal, () => connection.abort(stalled()));
	try {
		connection.signal.throwIfAborted();
		const fetching = fetchWhole(step, generation, fileName, idleTimeoutMs, connection, answered);
		return await raceAbort(connection.signal, fetching);
	} finally {
		forget();
		answered.abort();
		connection.abort();
	}
}

async function fetchWhole(
	step: Step,
	generation: Generation,
	fileName: string,
	idleTimeoutMs: number,
	connection: AbortController,
	answered: AbortController,
): Promise<IBinaryData> {
	if (generation.item.url === null) throw badOutput('The service returned no output URL', null);
	const response = (await step.n8n.helpers.httpRequest({
		method: 'GET',
		url: generation.item.url,
		// Images and videos are already compressed.
		headers: { 'Accept-Encoding': 'identity' },
		encoding: 'stream',
		timeout: idleTimeoutMs,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		abortSignal: connection.signal,
	})) as { statusCode: number; headers: Record<string, string | undefined>; body: ByteStream };

	answered.abort();
	const { statusCode, headers, body } = response;
	// A break reaches the current reader. Without this listener, an error with no reader would crash n8n.
	body.on('error', () => {});
	onAbort(connection.signal, () => body.destroy());
	if (statusCode === 206 && !isWholeFile(headers['content-range']))
		throw badOutput('The storage returned only a part of the file', statusCode);
	if (statusCode !== 200 && statusCode !== 206) {
		const asked = retryAfterMs({ status: statusCode, body: null, headers }, wallClock.now());
		throw notTheFile(statusCode, asked);
	}
	void watchHeadway(body, idleTimeoutMs, connection.signal, () => connection.abort(stalled()));
	const head = await peek(body);
	if (head.length === 0) throw badOutput('The storage returned an empty file', statusCode);
	// A cache may have stored the response to a request for the first byte.
	if (head.length === 1) throw badOutput('The storage returned only one byte', statusCode);
	const text = leadingText(head);
	if (text !== null) throw textInstead(text, statusCode);
	const mimeType = mediaType(headers['content-type'], head);
	if (isDocument(mimeType)) {
		throw badOutput('The storage returned a document instead of the image or video', statusCode);
	}
	// n8n reads a body to its end or rejects. Content-Length is not compared: it counts the encoded body, if
	// there is an encoding.
	const whole = head.length < SNIFF_BYTES ? head : body;
	const name = safeFileName(fileName, mimeType);
	const stored = await toResult(
		async () => await step.n8n.helpers.prepareBinaryData(whole, name, mimeType),
	);
	if (stored.ok) return stored.value;
	throw body.readableEnded ? notStored(stored.error) : stored.error;
}

/** True if the range of a 206 is the whole file, as in `bytes 0-99/100`. */
function isWholeFile(contentRange = ''): boolean {
	const [, last, size] = /^bytes 0-(\d+)\/(\d+)$/i.exec(contentRange) ?? [];
	return size !== undefined && Number(last) + 1 === Number(size);
}
