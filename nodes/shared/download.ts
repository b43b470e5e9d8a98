import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

import { attempt } from '../../client/basics/attempt';
import { backoffDelay } from '../../client/wire/backoff';
import { CancelledError, GenerationError } from '../../client/wire/errors';
import type { Generation } from '../../client/wire/generation';
import { isDocument, mediaType, safeFileName, SNIFF_BYTES } from '../../client/wire/media-type';
import { wallClock } from './clock';
import { inLargeChunks, type ByteStream } from './large-chunks';

/** How often a download is begun before its error is handed on. */
const MAX_TRIES = 5;

/** How long no byte may come before a download counts as stalled. There is no limit in all. */
const IDLE_TIMEOUT_MS = 60_000;

export interface DownloadRequest {
	generation: Generation;
	/** File name wanted; made safe, and its extension made to match. */
	fileName: string;
	/** Asks the status endpoint for the generation with a fresh URL (spec 4.3). */
	refresh: () => Promise<Generation>;
	signal: AbortSignal;
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
 * @throws GenerationError with the generation's id and URL where the file cannot be had; CancelledError after a stop
 */
export async function download(
	context: IExecuteFunctions,
	request: DownloadRequest,
): Promise<Downloaded> {
	let { generation } = request;
	for (let tries = 1; ; tries++) {
		const tried = await attempt(async () => await fetchOnce(context, generation, request));
		if (tried.ok) return { binary: tried.value, generation };
		if (request.signal.aborted) throw new CancelledError();
		const error = asDownloadError(tried.error, generation);
		if (tries >= MAX_TRIES) throw error;
		// A refused URL has expired: with a fresh one there is nothing to wait for. All else gets time to mend.
		if (error.status !== 403 || tries > 1) {
			await wallClock.sleep(backoffDelay(tries - 1, Math.random), request.signal);
		}
		if (request.signal.aborted) throw new CancelledError();
		generation = await request.refresh();
	}
}

async function fetchOnce(
	context: IExecuteFunctions,
	generation: Generation,
	{ fileName, signal, idleTimeoutMs = IDLE_TIMEOUT_MS }: DownloadRequest,
): Promise<IBinaryData> {
	if (generation.item.url === null) throw broken('The service gave no output URL', null);
	const response = (await context.helpers.httpRequest({
		method: 'GET',
		url: generation.item.url,
		encoding: 'stream',
		timeout: idleTimeoutMs,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		abortSignal: signal,
	})) as { statusCode: number; headers: Record<string, string | undefined>; body: ByteStream };

	const { statusCode, headers, body } = response;
	if (statusCode !== 200) {
		body.resume();
		throw broken('The storage refused the output', statusCode);
	}
	const { head, whole } = await peek(body);
	if (head.length === 0) throw broken('The storage answered with an empty file', statusCode);
	const mimeType = mediaType(headers['content-type'], head);
	if (isDocument(mimeType)) {
		body.resume();
		throw broken('The storage answered with a document instead of the output', statusCode);
	}
	const name = safeFileName(fileName, mimeType);
	const binary = await context.helpers.prepareBinaryData(whole, name, mimeType);
	requireWhole(headers, binary);
	return binary;
}

/** The first bytes of a stream, and what then has to be stored: the same stream, or all of it where that was all. */
async function peek(stream: ByteStream): Promise<{ head: Buffer; whole: Buffer | ByteStream }> {
	let head = Buffer.alloc(0);
	while (head.length < SNIFF_BYTES) {
		const chunk = stream.read() as Buffer | null;
		if (chunk) head = Buffer.concat([head, chunk]);
		else if (stream.readableEnded) return { head, whole: head };
		else if (stream.destroyed) throw stream.errored ?? new Error('The stream broke off');
		else await readableOrOver(stream);
	}
	stream.unshift(head);
	return { head, whole: inLargeChunks(stream) };
}

async function readableOrOver(stream: ByteStream): Promise<void> {
	await new Promise<void>((resolve, reject) => {
		for (const event of ['readable', 'end', 'close']) stream.once(event, resolve);
		stream.once('error', reject);
	});
}

/** @throws GenerationError where fewer or more bytes were stored than the storage had announced */
function requireWhole(headers: Record<string, string | undefined>, binary: IBinaryData): void {
	// An encoded body is announced in its encoded length, and stored decoded.
	if (headers['content-encoding'] || !headers['content-length']) return;
	const announced = Number(headers['content-length']);
	if (binary.bytes === undefined || binary.bytes === announced) return;
	throw broken(`The output broke off at ${binary.bytes} of ${announced} bytes`, 200);
}

function broken(title: string, status: number | null): GenerationError {
	return new GenerationError({ title, description: '', code: 'download_failed', status });
}

function asDownloadError(error: unknown, { item }: Generation): GenerationError {
	const known =
		error instanceof GenerationError ? error : broken('The output could not be downloaded', null);
	return known.with({
		description: `Generation ${item.id} is completed and paid for; only its file is missing. Fetch it with Wait for Completion: that costs nothing. URL: ${item.url ?? 'none'}`,
		charge: 'paid',
		generation: item,
	});
}
