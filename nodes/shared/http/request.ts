import type { IAllExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';

import { deadline, onAbort, raceAbort } from '../../../client/async';
import type { ByteStream } from './byte-stream';
import { requestClock, wallClock } from './clock';

/** Milliseconds that a creating request may still take after a stop, so that the generation's id is received. */
const GRACE_AFTER_STOP_MS = 5_000;

interface RequestLimits {
	signal?: AbortSignal;
	/** Aborts when the execution is stopped. Omitted if `signal` aborts then, too. */
	stop?: AbortSignal;
	/** In milliseconds. By default, the request has no time limit. */
	timeoutMs?: number;
	/** True once the request may have charged: then `signal` is ignored, and `stop` acts `GRACE_AFTER_STOP_MS` later. */
	isCommitted?: () => boolean;
}

/**
 * Runs a request of any kind. Its controller aborts on the signals, on the timeout, and after `send` has settled. The abort
 * after `send` closes a connection whose body was not read to its end.
 */
export async function withRequest<T>(
	{ signal, stop, timeoutMs, isCommitted = () => false }: RequestLimits,
	send: (request: AbortController) => Promise<T>,
): Promise<T> {
	const request = new AbortController();
	const end = () => request.abort();
	const endAfter = (ms: number, clock = requestClock) =>
		void deadline(clock, ms, request.signal).then(end);
	const waiting = [
		onAbort(signal, () => isCommitted() || end()),
		onAbort(stop, () => (isCommitted() ? endAfter(GRACE_AFTER_STOP_MS, wallClock) : end())),
	];
	if (timeoutMs !== undefined) endAfter(timeoutMs);
	try {
		request.signal.throwIfAborted();
		return await raceAbort(request.signal, send(request));
	} finally {
		for (const forget of waiting) forget();
		// An abort without a reason would create a DOMException with a stack trace, which takes time.
		request.abort('settled');
	}
}

/** The response of n8n's helpers with `returnFullResponse`. */
export interface FullResponse<Body> {
	statusCode: number;
	headers: Record<string, string | undefined>;
	body: Body;
}

/** Requests a presigned URL, without the API key, and returns the response with its body as a stream, for every status. */
export async function openStream(
	{ helpers }: Pick<IAllExecuteFunctions, 'helpers'>,
	url: string,
	signal: AbortSignal,
	options: Pick<IHttpRequestOptions, 'disableFollowRedirect' | 'timeout' | 'headers'>,
): Promise<FullResponse<ByteStream>> {
	const response = (await helpers.httpRequest({
		...options,
		method: 'GET',
		url,
		// Asks for no compression, because images and videos are compressed already.
		headers: { ...options.headers, 'Accept-Encoding': 'identity' },
		encoding: 'stream',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		abortSignal: signal,
	})) as FullResponse<ByteStream>;
	const { body } = response;
	// Without this listener, an error of a body that is not read would crash n8n.
	body.on('error', () => {});
	onAbort(signal, () => body.destroy());
	return response;
}
