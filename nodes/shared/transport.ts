import type {
	IAllExecuteFunctions,
	IExecuteFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';

import { onAbort } from '../../client/basics/abort';
import { attempt } from '../../client/basics/attempt';
import type { Probed, ProbeUrl, SendRequest, ServiceResponse } from '../../client/basics/ports';
import { NotSentError } from '../../client/wire/connection';
import { orAborted } from './abort';
import { wallClock } from './clock';
import type { ByteStream } from './byte-stream';

export const CREDENTIAL = 'mediaGenerationApi';

/** Where n8n's HTTP helpers are bound to the client's ports. Nothing else in this package sends anything to the service. */

/** The service answers at once (spec 1.3). What takes longer than this in all is lost, also where it trickles in. */
const REQUEST_TIMEOUT_MS = 60_000;

/** The slowest line that is waited for, in bytes a millisecond: references may be megabytes, ten requests at once. */
const SLOWEST_LINE = 16;

/** A storage that takes longer than this for one byte is not worth asking. */
const PROBE_TIMEOUT_MS = 10_000;

/** A creating request that is under way when the user stops may take this long to come to its id. */
const GRACE_AFTER_STOP_MS = 5_000;

type Context = IExecuteFunctions | ILoadOptionsFunctions;

/** What n8n's helpers answer with where they are asked for the full response. */
interface FullResponse<Body> {
	statusCode: number;
	headers: Record<string, string | undefined>;
	body: Body;
}

/** The service's address without a trailing slash or `/v1`, both of which people paste. */
export function serviceAddress(baseUrl: unknown): string {
	return String(baseUrl ?? '')
		.trim()
		.replace(/\/+$/, '')
		.replace(/\/v1$/, '');
}

/** What the credential says, as it is used here. */
interface Access {
	address: string;
	apiKey: string;
}

/**
 * Binds the request port to the node's credential. Redirects are not followed, so the key stays at the service's own
 * origin; statuses are left to the client; the key is removed from whatever the service says of an error.
 */
export function connect(context: Context): SendRequest {
	const access = readOnce(async (): Promise<Access> => {
		const { baseUrl, apiKey } = await context.getCredentials(CREDENTIAL);
		// Space around a pasted key does not reach the service, so it is not in what the service says of it either.
		return { address: serviceAddress(baseUrl), apiKey: String(apiKey).trim() };
	});
	return async ({ method, path, query, body, headers }, signal) => {
		const options: IHttpRequestOptions = {
			method,
			url: path,
			qs: query,
			body,
			headers,
			json: true,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
		};
		const response = await exchange(context, access, options, signal);
		const { apiKey } = await access();
		return withoutKey({ status: response.statusCode, body: response.body }, apiKey);
	};
}

/** Reads once for all who ask; after a failure whoever asks next reads anew. */
function readOnce<T>(read: () => Promise<T>): () => Promise<T> {
	let reading: Promise<T> | null = null;
	return async () => {
		reading ??= read().catch((error: unknown) => {
			reading = null;
			throw error;
		});
		return await reading;
	};
}

/**
 * Sends a request with the credential, which n8n reads anew for each one: what is given up before that never leaves.
 * What creates and has left is let come to its id. n8n would abort it on Stop, so it is handed another signal.
 *
 * @param access tells where the service is
 * @param options the request, with its path as its URL
 * @param signal gives the request up, as Stop does
 * @throws NotSentError where it certainly did not leave; else what n8n's helper throws
 */
async function exchange(
	context: Context,
	access: () => Promise<Access>,
	options: IHttpRequestOptions,
	signal: AbortSignal | undefined,
): Promise<FullResponse<unknown>> {
	const stop = stopOf(context);
	if (signal?.aborted || stop?.aborted) throw new NotSentError();
	const request = new AbortController();
	const end = () => request.abort();
	const credential = watchedCredential(request.signal);
	const committed = () => options.method === 'POST' && !credential.isBeingRead;
	const waiting = [
		onAbort(signal, () => committed() || end()),
		onAbort(stop, () => {
			if (committed()) void wallClock.sleep(GRACE_AFTER_STOP_MS, request.signal).then(end);
			else end();
		}),
		onAbort(AbortSignal.timeout(timeoutOf(options.body)), end),
	];
	const sender = Object.create(context, {
		getCredentials: {
			value: async (...wanted: Parameters<Context['getCredentials']>) =>
				await credential.during(async () => await context.getCredentials(...wanted)),
		},
		getExecutionCancelSignal: { value: () => request.signal },
	}) as IAllExecuteFunctions;
	const send = async () => {
		const { address } = await credential.during(access);
		const located = { ...options, url: `${address}${options.url}` };
		return await context.helpers.httpRequestWithAuthentication.call(sender, CREDENTIAL, located);
	};
	try {
		return (await orAborted(request.signal, send())) as FullResponse<unknown>;
	} catch (error) {
		throw credential.isBeingRead ? new NotSentError(credential.failure) : error;
	} finally {
		for (const forget of waiting) forget();
		end();
	}
}

/** How long a request may take: to be sent, which what is inline decides, and to be answered. */
function timeoutOf(body: unknown): number {
	const { inputs = [] } = (body ?? {}) as { inputs?: Array<{ value: string }> };
	const bytes = inputs.reduce((sum, { value }) => sum + value.length, 0);
	return REQUEST_TIMEOUT_MS + Math.ceil(bytes / SLOWEST_LINE);
}

/** Watches a credential being read, and tells whether it still is: then the request has not left. */
function watchedCredential(request: AbortSignal) {
	const watched = {
		isBeingRead: false,
		failure: undefined as unknown,
		during: async <T>(read: () => Promise<T>): Promise<T> => {
			watched.isBeingRead = true;
			const tried = await attempt(read);
			if (!tried.ok) throw (watched.failure = tried.error);
			// Too late: what was given up in the meantime must not leave any more.
			request.throwIfAborted();
			watched.isBeingRead = false;
			return tried.value;
		},
	};
	return watched;
}

/**
 * Asks a presigned URL for its first byte (spec 4.3), and hangs up as soon as it is clear what would come: a storage may
 * send the whole file, or never come to an end.
 */
export function probeWith(context: IExecuteFunctions): ProbeUrl {
	return async (url, signal) => {
		const request = new AbortController();
		const ends = [signal, stopOf(context), AbortSignal.timeout(PROBE_TIMEOUT_MS)];
		const waiting = ends.map((one) => onAbort(one, () => request.abort()));
		const forget = () => waiting.forEach((each) => each());
		const probed = await attempt(async () => {
			request.signal.throwIfAborted();
			return await orAborted(request.signal, firstByte(context, url, request.signal, forget));
		});
		if (probed.ok) return probed.value;
		forget();
		throw probed.error;
	};
}

async function firstByte(
	context: IExecuteFunctions,
	url: string,
	signal: AbortSignal,
	closed: () => void,
): Promise<Probed> {
	const { statusCode, headers, body } = (await context.helpers.httpRequest({
		method: 'GET',
		url,
		headers: { Range: 'bytes=0-0', 'Accept-Encoding': 'identity' },
		encoding: 'stream',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		abortSignal: signal,
	})) as FullResponse<ByteStream>;
	const hangUp = () => body.destroy();
	// A body that breaks when nobody reads it any more concerns nobody.
	body.on('error', hangUp);
	// One that stands still closes only with its connection: until then the signal may have to end that.
	body.once('close', closed);
	onAbort(signal, hangUp);
	try {
		const found = statusCode === 200 || statusCode === 206;
		return { status: statusCode, oneByte: found && (await isOneByte(headers, body)) };
	} finally {
		hangUp();
	}
}

/** By what the storage announces; only where it announces nothing by what comes. */
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

/** The signal of the user's Stop; releases of n8n and places without it have none. */
function stopOf(context: Context): AbortSignal | undefined {
	return 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal?.() : undefined;
}

/** Cuts the key out of what the service says of an error. All else is left: in an id or a URL it would be another. */
function withoutKey({ status, body }: ServiceResponse, apiKey: string): ServiceResponse {
	if (apiKey === '') return { status, body };
	if (status >= 300) return { status, body: cut(body, apiKey) };
	const { error } = (body ?? {}) as { error?: unknown };
	return { status, body: error ? { ...(body as object), error: cut(error, apiKey) } : body };
}

/** A JSON value without a secret in any of its texts. */
function cut(value: unknown, secret: string): unknown {
	if (typeof value === 'string') return value.replaceAll(secret, '[API key]');
	if (Array.isArray(value)) return value.map((each) => cut(each, secret));
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cut(each, secret)]));
}
