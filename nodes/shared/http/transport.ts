import { jsonParse, type IAllExecuteFunctions, type IHttpRequestOptions } from 'n8n-workflow';

import { toResult } from '../../../client/async';
import type { ProbeUrl, SendRequest } from '../../../client/ports';
import { ServiceClient } from '../../../client/api/client';
import { debugLog } from '../execution';
import type { Caller, Step } from '../step';
import { wallClock } from './clock';
import { apiKeyOf, CREDENTIAL, serviceAddress, unreadableCredential } from './credential';
import type { ByteStream } from './byte-stream';
import { openStream, withRequest, type FullResponse } from './request';

/**
 * This module binds n8n's HTTP helpers to the client's ports. Downloads and the credential test send their requests
 * in their own modules.
 */

/** Enough for ten large uploads at once. Less than `GONE_AFTER_MS`, after which other executions take this one for dead. */
const LONGEST_REQUEST_MS = 90_000;

const PROBE_TIMEOUT_MS = 10_000;

/**
 * Connects to the service with the node's credential. `options` are for requests for models and credits only: the signal
 * that ends these requests, and their maximum number of retries.
 */
export function serviceOf(
	caller: Caller,
	options: { signal?: AbortSignal; maxRetries?: number } = {},
): ServiceClient {
	const { signal } = caller;
	const ports = { clock: wallClock, random: Math.random, signal, debug: debugLog(caller) };
	return new ServiceClient({ ...ports, ...options, send: connect(caller) });
}

/**
 * Returns a function that sends one request with the node's credential, which is read anew each time. The API key is
 * removed from responses. Once n8n has a creating request (a POST), `signal` is ignored, and a Stop aborts the request only
 * after some seconds: the response has the id of a generation that was charged.
 */
export function connect({ n8n, signal: stop }: Pick<Caller, 'n8n' | 'signal'>): SendRequest {
	const keys = new Set<string>();
	return async ({ method, path, query, body, headers }, signal) => {
		let handedOver = false;
		const isCommitted = () => handedOver && method === 'POST';
		const send = async (request: AbortController) => {
			const data = await n8n.getCredentials(CREDENTIAL);
			const url = `${serviceAddress(data.baseUrl)}${path}`;
			// An error response may quote the API key as it was sent: `parsedBody` removes it.
			keys.add(apiKeyOf(data.apiKey));
			// The request may have been aborted while the credential was read.
			request.signal.throwIfAborted();
			handedOver = true;
			const options: IHttpRequestOptions = {
				method,
				url,
				qs: query,
				body,
				headers,
				json: true,
				// As text: n8n's JSON parser would round large numbers, such as a numeric id.
				encoding: 'text',
				// `withRequest` has a timeout. After a pause of the process, n8n's timeout could discard an arrived response.
				timeout: 0,
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				disableFollowRedirect: true,
			};
			const sender = Object.create(n8n, {
				getExecutionCancelSignal: { value: () => request.signal },
			}) as IAllExecuteFunctions;
			// Otherwise n8n would read the credential again, and a user may have edited it since `url` was built.
			const credentialsDecrypted = { id: '', name: CREDENTIAL, type: CREDENTIAL, data };
			const { httpRequestWithAuthentication } = n8n.helpers;
			const given = [CREDENTIAL, options, { credentialsDecrypted }] as const;
			return (await httpRequestWithAuthentication.call(sender, ...given)) as FullResponse<unknown>;
		};
		const limits = { signal, stop, timeoutMs: LONGEST_REQUEST_MS, isCommitted };
		const sent = await toResult(async () => await withRequest(limits, send));
		if (!sent.ok) throw handedOver ? sent.error : unreadableCredential(sent.error);
		const { statusCode: status, body: content, headers: received } = sent.value;
		return { status, body: parsedBody(status, content, keys), headers: received };
	};
}

/** The sizes of files in bytes, by URL without its query. The query has a signature, which differs in each fresh URL. */
export type FileSizes = Map<string, number>;

/** Returns the key of a URL in `FileSizes`. */
export function fileOf(url: string): string {
	return url.split('?')[0];
}

/**
 * Requests the first byte of a presigned URL (spec 4.3). Does not wait for the end of the response, because a storage may
 * send the whole file or never end. If the storage states the file's size, the size is added to `sizes`.
 */
export function probeWith(
	{ n8n, signal: stop }: Pick<Step, 'n8n' | 'signal'>,
	sizes: FileSizes = new Map(),
): ProbeUrl {
	return async (url, signal) =>
		await withRequest({ signal, stop, timeoutMs: PROBE_TIMEOUT_MS }, async (request) => {
			const options = { headers: { Range: 'bytes=0-0' }, disableFollowRedirect: true };
			const { statusCode, headers, body } = await openStream(n8n, url, request.signal, options);
			const found = statusCode === 200 || statusCode === 206;
			const [, size] = /^bytes 0-0\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
			if (found && size !== undefined) sizes.set(fileOf(url), Number(size));
			return { status: statusCode, oneByte: found && (await isOneByte(headers, body)) };
		});
}

/** True if a body is exactly one byte, by its headers. Without such headers, reads the body until its second byte. */
async function isOneByte(
	headers: Record<string, string | undefined>,
	body: ByteStream,
): Promise<boolean> {
	if (headers['content-range']) return /^bytes 0-0\//.test(headers['content-range']);
	if (headers['content-length']) return Number(headers['content-length']) === 1;
	let bytes = 0;
	for await (const chunk of body) {
		bytes += (chunk as Buffer).length;
		if (bytes > 1) break;
	}
	return bytes === 1;
}

/** An id that the service sends as a number with so many digits that JavaScript would round it. */
const LARGE_ID = /("(?:generation_)?id"\s*:\s*)(\d{16,})(?=\s*[,}])/g;

/** The token in n8n's signed URL of a file, in any encoding: it gives access to the file without a login. */
const TOKEN = /(binary-data\S{1,6}signed\S{1,6}token\S)[\w.-]+/gi;

/** Shorter API keys are not removed from a success response, because an id or URL may contain them by chance. */
const SHORTEST_KEY = 8;

/**
 * Parses the body of a response, if it is JSON; otherwise returns its text. Removes the API keys that were sent and the
 * tokens of n8n's signed URLs, because errors and logs quote the body.
 */
export function parsedBody(status: number, body: unknown, keys: Set<string>): unknown {
	const received = typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
	const text = [...keys]
		.filter(({ length }) => length >= SHORTEST_KEY || (length > 0 && status >= 300))
		.reduce((rest, key) => rest.replaceAll(key, '[API key]'), received)
		.replace(TOKEN, '$1…')
		.replace(LARGE_ID, '$1"$2"');
	return jsonParse<unknown>(text, { fallbackValue: text });
}
