import type {
	IAllExecuteFunctions,
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';

import { onAbort } from '../../client/basics/abort';
import { attempt } from '../../client/basics/attempt';
import { deadline } from '../../client/basics/deadline';
import type { Probed, ProbeUrl, SendRequest, ServiceResponse } from '../../client/basics/ports';
import { serviceAddress } from '../../client/wire/base-url';
import { credentialChanged, NotSentError } from '../../client/wire/connection';
import { orAborted } from './abort';
import { requestClock, wallClock } from './clock';
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

/** The credential as it was read for one request. */
interface Credential {
	address: string;
	data: ICredentialDataDecryptedObject;
}

/**
 * Binds the request port to the node's credential. Redirects are not followed, so the key stays at the service's own
 * origin; statuses are left to the client; every key that was read is removed from what the service says of an error.
 */
export function connect(context: Context): SendRequest {
	const keys = new Set<string>();
	let started: string | null = null;
	const read = async (): Promise<Credential> => {
		const data = await context.getCredentials(CREDENTIAL);
		const address = serviceAddress(data.baseUrl);
		started ??= address;
		if (address !== started) throw credentialChanged();
		// Space around a pasted key does not reach the service, so it is not in what the service says of it either.
		keys.add(String(data.apiKey).trim());
		return { address, data };
	};
	return async ({ method, path, query, body, headers }, signal) => {
		const options: IHttpRequestOptions = {
			method,
			url: path,
			qs: query,
			body,
			headers,
			json: true,
			// n8n's own limit fires before the socket is read, after a pause of the process.
			timeout: 0,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
		};
		const response = await exchange(context, read, options, signal);
		return withoutKeys({ status: response.statusCode, body: response.body }, keys);
	};
}

/**
 * Sends a request. What is given up while the credential is still being read never leaves. A creating request that has
 * left is let come to its id; n8n would abort it on Stop, so n8n gets another signal.
 *
 * @param read reads the credential
 * @param options the request, with its path as its URL
 * @param signal gives the request up, as Stop does
 * @throws NotSentError where it certainly did not leave; else what n8n's helper throws
 */
async function exchange(
	context: Context,
	read: () => Promise<Credential>,
	options: IHttpRequestOptions,
	signal: AbortSignal | undefined,
): Promise<FullResponse<unknown>> {
	const stop = stopOf(context);
	if (signal?.aborted || stop?.aborted) throw new NotSentError();
	const request = new AbortController();
	const end = () => request.abort();
	let handedOver = false;
	const committed = () => handedOver && options.method === 'POST';
	const waiting = [
		onAbort(signal, () => committed() || end()),
		onAbort(stop, () => {
			if (committed()) void deadline(wallClock, GRACE_AFTER_STOP_MS, request.signal).then(end);
			else end();
		}),
	];
	void deadline(requestClock, timeoutOf(options.body), request.signal).then(end);
	const sender = Object.create(context, {
		getExecutionCancelSignal: { value: () => request.signal },
	}) as IAllExecuteFunctions;
	const send = async () => {
		const { address, data } = await read();
		// A request that was given up in the meantime must not leave.
		request.signal.throwIfAborted();
		handedOver = true;
		const located = { ...options, url: `${address}${options.url}` };
		// n8n would read the credential once more. It may have been edited since: this key belongs to this address.
		const credentialsDecrypted = { id: '', name: CREDENTIAL, type: CREDENTIAL, data };
		const given = { credentialsDecrypted };
		const { httpRequestWithAuthentication } = context.helpers;
		return await httpRequestWithAuthentication.call(sender, CREDENTIAL, located, given);
	};
	const sent = await attempt(async () => await orAborted(request.signal, send()));
	const givenUp = request.signal.aborted;
	for (const forget of waiting) forget();
	end();
	if (sent.ok) return sent.value as FullResponse<unknown>;
	throw handedOver ? sent.error : new NotSentError(givenUp ? undefined : sent.error);
}

/** How long a request may take: to be sent, which what is inline decides, and to be answered. */
function timeoutOf(body: unknown): number {
	const { inputs = [] } = (body ?? {}) as { inputs?: Array<{ value: string }> };
	const bytes = inputs.reduce((sum, { value }) => sum + value.length, 0);
	return REQUEST_TIMEOUT_MS + Math.ceil(bytes / SLOWEST_LINE);
}

/**
 * Asks a presigned URL for its first byte (spec 4.3), and closes the connection as soon as it is clear what would come:
 * a storage may send the whole file, or never come to an end.
 */
export function probeWith(context: IExecuteFunctions): ProbeUrl {
	return async (url, signal) => {
		const request = new AbortController();
		const end = () => request.abort();
		const waiting = [signal, stopOf(context)].map((one) => onAbort(one, end));
		void deadline(requestClock, PROBE_TIMEOUT_MS, request.signal).then(end);
		try {
			request.signal.throwIfAborted();
			return await orAborted(request.signal, firstByte(context, url, request.signal));
		} finally {
			for (const forget of waiting) forget();
			// Only this closes the connection: n8n's body, destroyed before it was read, leaves the one behind it open.
			end();
		}
	};
}

async function firstByte(
	context: IExecuteFunctions,
	url: string,
	signal: AbortSignal,
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
	// Without a listener, an error of a body that is no longer read would end n8n.
	body.on('error', () => {});
	onAbort(signal, () => body.destroy());
	const found = statusCode === 200 || statusCode === 206;
	return { status: statusCode, oneByte: found && (await isOneByte(headers, body)) };
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

/** Cuts the keys out of what the service says of an error. All else is left: in an id or a URL it would be another. */
function withoutKeys({ status, body }: ServiceResponse, keys: Set<string>): ServiceResponse {
	const cutAll = (value: unknown) =>
		[...keys].filter(Boolean).reduce((rest, key) => cut(rest, key), value);
	if (status >= 300) return { status, body: cutAll(body) };
	const { error } = (body ?? {}) as { error?: unknown };
	return { status, body: error ? { ...(body as object), error: cutAll(error) } : body };
}

/** A JSON value without a secret in any of its texts. */
function cut(value: unknown, secret: string): unknown {
	if (typeof value === 'string') return value.replaceAll(secret, '[API key]');
	if (Array.isArray(value)) return value.map((each) => cut(each, secret));
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cut(each, secret)]));
}
