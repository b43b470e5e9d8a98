import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

import { onAbort } from '../../client/basics/abort';
import { attempt } from '../../client/basics/attempt';
import { failedGeneration } from '../../client/jobs/outcome';
import { backoffDelay } from '../../client/wire/backoff';
import { CancelledError } from '../../client/wire/errors';
import { isFailed, type Generation } from '../../client/wire/generation';
import {
	isDocument,
	leadingText,
	mediaType,
	safeFileName,
	SNIFF_BYTES,
} from '../../client/wire/media-type';
import { orAborted } from './abort';
import { peek, watchHeadway, type ByteStream } from './byte-stream';
import { wallClock } from './clock';
import { badOutput, downloadError, stalled, textInstead } from './download-errors';

/** How often a download is begun before its error is handed on. */
const MAX_TRIES = 5;

/**
 * How long a file that is said to be missing is asked for. Caches remember, often for some minutes, that there was
 * nothing when its URL was first looked at.
 */
const MISSING_PATIENCE_MS = 300_000;

/** How long hardly any byte may come before a download counts as stalled. There is no limit in all. */
const IDLE_TIMEOUT_MS = 60_000;

export interface DownloadRequest {
	generation: Generation;
	/** File name wanted; made safe, and its extension made to match. */
	fileName: string;
	/** Asks the status endpoint for the generation with a fresh URL (spec 4.3). */
	refresh: () => Promise<Generation>;
	signal: AbortSignal;
	/** Runs one try when it is its turn. Between two tries others have theirs. */
	limited?: <T>(tryOnce: () => Promise<T>) => Promise<T>;
	/** Another idle timeout than `IDLE_TIMEOUT_MS`. */
	idleTimeoutMs?: number;
}

export interface Downloaded {
	binary: IBinaryData;
	/** The generation as last seen: its URL may be a fresh one. */
	generation: Generation;
}

/**
 * Streams a generation's output from its presigned URL into n8n's storage, and hands it on only when it is whole. The
 * key never goes there. A URL that has expired is replaced; a download that breaks is begun again a few times.
 *
 * @throws GenerationError with the generation's id and URL where the file cannot be had, or that it has failed after
 * all; CancelledError after a stop
 */
export async function download(
	context: IExecuteFunctions,
	request: DownloadRequest,
): Promise<Downloaded> {
	const { signal, limited = async (tryOnce) => await tryOnce() } = request;
	let { generation } = request;
	const since = wallClock.now();
	for (let tries = 1; ; tries++) {
		const tried = await attempt(
			async () => await limited(async () => await fetchOnce(context, generation, request)),
		);
		if (tried.ok) return { binary: tried.value, generation };
		if (signal.aborted) throw new CancelledError();
		const error = downloadError(tried.error, generation);
		const mayAppear = error.status === 404 && wallClock.now() - since < MISSING_PATIENCE_MS;
		if (error.retry === 'never' || (tries >= MAX_TRIES && !mayAppear)) throw error;
		// A refused URL has expired: with a fresh one there is nothing to wait for. All else gets time to mend.
		if (error.status !== 403 || tries > 1) {
			await wallClock.sleep(backoffDelay(tries - 1, Math.random), signal);
		}
		if (signal.aborted) throw new CancelledError();
		// Where the connection broke the URL in hand is as good as before.
		if (error.status === null && generation.item.url !== null) continue;
		const fresh = await attempt(request.refresh);
		// The URL in hand may do as well, whatever is with the service, unless the storage has refused it.
		if (!fresh.ok) {
			if (error.status === 403 || generation.item.url === null) throw fresh.error;
			continue;
		}
		// What the storage showed was no output then.
		if (isFailed(fresh.value)) throw failedGeneration(fresh.value);
		generation = withUrlOf(generation, fresh.value);
	}
}

/** Only the URL is fresh: a replica that lags may still say that the generation is under way. */
function withUrlOf(
	generation: Generation,
	{ item: { url, url_expires_at } }: Generation,
): Generation {
	if (url === null) return generation;
	return { ...generation, item: { ...generation.item, url, url_expires_at } };
}

/** Whatever comes of it, the connection is closed: nothing that is not wanted is read. */
async function fetchOnce(
	context: IExecuteFunctions,
	generation: Generation,
	{ fileName, signal, idleTimeoutMs = IDLE_TIMEOUT_MS }: DownloadRequest,
): Promise<IBinaryData> {
	const connection = new AbortController();
	const forget = onAbort(signal, () => connection.abort());
	try {
		connection.signal.throwIfAborted();
		const fetching = fetchWhole(context, generation, fileName, idleTimeoutMs, connection);
		return await orAborted(connection.signal, fetching);
	} finally {
		forget();
		connection.abort();
	}
}

async function fetchWhole(
	context: IExecuteFunctions,
	generation: Generation,
	fileName: string,
	idleTimeoutMs: number,
	connection: AbortController,
): Promise<IBinaryData> {
	if (generation.item.url === null) throw badOutput('The service gave no output URL', null);
	const response = (await context.helpers.httpRequest({
		method: 'GET',
		url: generation.item.url,
		// Pictures and videos are packed already.
		headers: { 'Accept-Encoding': 'identity' },
		encoding: 'stream',
		timeout: idleTimeoutMs,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		abortSignal: connection.signal,
	})) as { statusCode: number; headers: Record<string, string | undefined>; body: ByteStream };

	const { statusCode, headers, body } = response;
	// Breaks are told to whoever reads at that moment. One that comes when nobody does would end n8n.
	body.on('error', () => {});
	onAbort(connection.signal, () => body.destroy());
	if (statusCode !== 200) throw badOutput('The storage refused the output', statusCode);
	void watchHeadway(body, idleTimeoutMs, connection.signal, () => connection.abort(stalled()));
	const head = await peek(body);
	if (head.length === 0) throw badOutput('The storage answered with an empty file', statusCode);
	const text = leadingText(head);
	if (text !== null) throw textInstead(text, statusCode);
	const mimeType = mediaType(headers['content-type'], head);
	if (isDocument(mimeType)) {
		throw badOutput('The storage answered with a document instead of the output', statusCode);
	}
	// n8n reads a body to its end or rejects, however much was announced: that is of the encoded body where it has one.
	const whole = head.length < SNIFF_BYTES ? head : body;
	return await context.helpers.prepareBinaryData(whole, safeFileName(fileName, mimeType), mimeType);
}
