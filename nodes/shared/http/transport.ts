import type {
	IAllExecuteFunctions,
	ICredentialDataDecryptedObject,
	IHttpRequestOptions,
} from 'n8n-workflow';

import { deadline, onAbort, raceAbort, toResult } from '../../../client/async';
import type { ProbeResponse, ProbeUrl, SendRequest, ServiceResponse } from '../../../client/ports';
import { ServiceClient } from '../../../client/api/client';
import { GenerationError } from '../../../client/api/errors';
import { readGeneration } from '../../../client/api/generation';
import { debugLog } from '../execution';
import type { Caller, Step } from '../step';
import { requestClock, wallClock } from './clock';
import {
	apiKeyOf,
	CREDENTIAL,
	credentialChanged,
	serviceAddress,
	unreadableCredential,
} from './credential';
import type { ByteStream } from './byte-stream';

/**
 * This module binds n8n's HTTP helpers to the client's ports. Downloads and the credential test send their requests
 * in their own modules.
 */

/**
 * Timeout of a whole request in milliseconds, including a response that trickles in. The service answers
 * immediately (spec 1.3).
 */
const REQUEST_TIMEOUT_MS = 60_000;

/**
 * The slowest supported upload speed, in bytes per millisecond. Reference inputs and additional fields can be megabytes,
 * in ten concurrent requests.
 */
const SLOWEST_LINE = 16;

/** How long a user waits for the test of a credential, or for a list of models, in milliseconds. */
export const USER_WAITS_MS = 20_000;

/** Timeout of a probe in milliseconds. */
const PROBE_TIMEOUT_MS = 10_000;

/** Milliseconds that a creating request may still take after a stop, so that its id is received. */
const GRACE_AFTER_STOP_MS = 5_000;

/** Builds the error of a request that a user waits for, if there is no response within `USER_WAITS_MS`. */
export function noResponse(): GenerationError {
	return new GenerationError({
		title: `The service cannot be reached: no response within ${USER_WAITS_MS / 1000} s`,
		description: 'Check the Base URL in the credential, and that the service is up.',
		code: 'connection_failed',
	});
}

/** The response of n8n's helpers with `returnFullResponse`. */
interface FullResponse<Body> {
	statusCode: number;
	headers: Record<string, string | undefined>;
	body: Body;
}

/** The credential that was read for one request. */
interface Credential {
	address: string;
	data: ICredentialDataDecryptedObject;
}

/**
 * Connects to the service with the node's credential.
 *
 * @param options for the requests of models and credits only: the signal that ends them (by default the caller's), and
 * their maximum number of retries (by default the client's)
 */
export function serviceOf(
	caller: Caller,
	options: { signal?: AbortSignal; maxRetries?: number } = {},
): ServiceClient {
	const { signal } = caller;
	const ports = { clock: wallClock, random: Math.random, signal, debug: debugLog(caller) };
	return new ServiceClient({ ...ports, ...options, send: connect(caller) });
}

/** Returns the address of the service. Throws as n8n does for a missing credential, and as `serviceAddress`. */
export async function addressOf({ n8n }: Step): Promise<string> {
	return serviceAddress((await n8n.getCredentials(CREDENTIAL)).baseUrl);
}

/**
 * Binds the request port to the node's credential.
 *
 * Redirects are not followed, so the API key stays at the service's own origin. All HTTP statuses are returned
 * to the client. Every API key that was read is removed from error responses. If the Base URL changes after the
 * first request, or while the step sleeps, nothing more is sent.
 */
export function connect(
	caller: Pick<Caller, 'n8n' | 'signal'> & Pick<Step, 'address'>,
): SendRequest {
	const keys = new Set<string>();
	let started = caller.address ?? null;
	const read = async (): Promise<Credential> => {
		const data = await caller.n8n.getCredentials(CREDENTIAL);
		const address = serviceAddress(data.baseUrl);
		started ??= address;
		if (address !== started) throw credentialChanged();
		// As it is sent: an error response may contain it.
		keys.add(apiKeyOf(data.apiKey));
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
			// n8n would round large numbers.
			encoding: 'text',
			// After a pause of the process, n8n's own timeout would fire before the socket is read.
			timeout: 0,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
		};
		const response = await exchange(caller, read, options, signal);
		const { statusCode: status, body: content, headers: received } = response;
		return { ...withoutKeys({ status, body: parsedBody(content) }, keys), headers: received };
	};
}

/**
 * Sends a request. A request that is aborted while the credential is being read is not sent.
 *
 * `signal` does not abort a creating request that was handed to n8n: its id must arrive. After Stop,
 * `GRACE_AFTER_STOP_MS` are left for it. n8n aborts requests on Stop, so n8n is given the signal of this request alone.
 *
 * @param read reads the credential
 * @param options the request, with its path as its URL
 * @param signal aborts the request, as Stop does
 * @throws GenerationError if the request was certainly not sent; otherwise the error of n8n's helper
 */
async function exchange(
	{ n8n, signal: stop }: Pick<Caller, 'n8n' | 'signal'>,
	read: () => Promise<Credential>,
	options: IHttpRequestOptions,
	signal: AbortSignal | undefined,
): Promise<FullResponse<unknown>> {
	if (signal?.aborted || stop.aborted) throw unreadableCredential();
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
	const sender = Object.create(n8n, {
		getExecutionCancelSignal: { value: () => request.signal },
	}) as IAllExecuteFunctions;
	const send = async () => {
		const { address, data } = await read();
		// The request may have been aborted while the credential was read.
		request.signal.throwIfAborted();
		handedOver = true;
		const located = { ...options, url: `${address}${options.url}` };
		// The credential as it was read: n8n would read it again, and it may have been edited since.
		const credentialsDecrypted = { id: '', name: CREDENTIAL, type: CREDENTIAL, data };
		const override = { credentialsDecrypted };
		const { httpRequestWithAuthentication } = n8n.helpers;
		return await httpRequestWithAuthentication.call(sender, CREDENTIAL, located, override);
	};
	const sent = await toResult(async () => await raceAbort(request.signal, send()));
	const givenUp = request.signal.aborted;
	for (const forget of waiting) forget();
	end();
	if (sent.ok) return sent.value as FullResponse<unknown>;
	throw handedOver ? sent.error : unreadableCredential(givenUp ? undefined : sent.error);
}

/** Timeout of a request in milliseconds: time to upload its body, plus time to answer. */
function timeoutOf(body: unknown): number {
	const bytes = Buffer.byteLength(JSON.stringify(body) ?? '');
	return REQUEST_TIMEOUT_MS + Math.ceil(bytes / SLOWEST_LINE);
}

/**
 * Requests the first byte of a presigned URL (spec 4.3). The connection is closed as soon as the answer is
 * clear: a storage may send the whole file or never end the response.
 */
export function probeWith({ n8n, signal: stop }: Pick<Step, 'n8n' | 'signal'>): ProbeUrl {
	return async (url, signal) => {
		const request = new AbortController();
		const end = () => request.abort();
		const waiting = [signal, stop].map((one) => onAbort(one, end));
		void deadline(requestClock, PROBE_TIMEOUT_MS, request.signal).then(end);
		try {
			request.signal.throwIfAborted();
			return await raceAbort(request.signal, firstByte(n8n, url, request.signal));
		} finally {
			for (const forget of waiting) forget();
			// Only the abort closes the connection. Destroying n8n's body before it is read leaves the socket
			// open.
			end();
		}
	};
}

async function firstByte(
	{ helpers }: Step['n8n'],
	url: string,
	signal: AbortSignal,
): Promise<ProbeResponse> {
	const { statusCode, headers, body } = (await helpers.httpRequest({
		method: 'GET',
		url,
		headers: { Range: 'bytes=0-0', 'Accept-Encoding': 'identity' },
		encoding: 'stream',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		abortSignal: signal,
	})) as FullResponse<ByteStream>;
	// Without this listener, a late error of the body would crash n8n.
	body.on('error', () => {});
	onAbort(signal, () => body.destroy());
	const found = statusCode === 200 || statusCode === 206;
	return { status: statusCode, oneByte: found && (await isOneByte(headers, body)) };
}

/** True if a body is exactly one byte: its headers say so, or else its bytes are counted until there are two. */
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

/** An id that is sent as a number, whose digits JavaScript would round. */
const LARGE_ID = /("(?:generation_)?id"\s*:\s*)(\d{16,})(?=\s*[,}])/g;

/** Parses the body of a response. Returns it unchanged if it is not JSON, or already parsed. */
export function parsedBody(body: unknown): unknown {
	try {
		return typeof body === 'string' ? JSON.parse(body.replace(LARGE_ID, '$1"$2"')) : body;
	} catch {
		return body;
	}
}

/** Fields of a successful response that errors and logs quote. */
const QUOTED = new Set(['error', 'status']);

/**
 * Removes the API keys, and the signed URLs of files in n8n, from error responses, and from what is quoted of others.
 * Everything else is unchanged: a change inside an id or URL would corrupt it.
 */
export function withoutKeys({ status, body }: ServiceResponse, keys: Set<string>): ServiceResponse {
	const named = [...keys].filter(Boolean).map((key): Secrets[0] => [key, '[API key]']);
	const secrets: Secrets = [...named, [SIGNED_URL, '[signed URL]'], [TOKEN, '[token]']];
	// Errors quote a response without an id.
	const isQuoted = status >= 300 || readGeneration(body, 0) === null;
	return { status, body: cut(body, secrets, isQuoted) };
}

type Secrets = Array<[secret: RegExp | string, name: string]>;

/**
 * The signed URL of a file in n8n: it works without a login. The service may quote it in any error, in any encoding. A match
 * starts only where a run of characters does: an error may quote megabytes of inline data.
 */
const SIGNED_URL = /(?<![^\s"'<>])[^\s"'<>]*binary-data\S{1,6}signed[^\s"'<>]*/gi;

/** The token of a signed URL, quoted apart from its path: a JSON Web Token. */
const TOKEN = /eyJ[\w-]*\.[\w-]+\.[\w-]+/g;

/** Replaces secrets in every string and name of a JSON value or, unless `isQuoted`, of its fields that are quoted. */
function cut(value: unknown, secrets: Secrets, isQuoted: boolean): unknown {
	if (Array.isArray(value)) return value.map((each) => cut(each, secrets, isQuoted));
	if (typeof value === 'object' && value !== null) {
		const entries = Object.entries(value).map(([name, each]) => [
			isQuoted && !QUOTED.has(name) ? cut(name, secrets, true) : name,
			cut(each, secrets, isQuoted || QUOTED.has(name)),
		]);
		return Object.fromEntries(entries) as unknown;
	}
	if (typeof value !== 'string' || !isQuoted) return value;
	return secrets.reduce((text, [secret, name]) => text.replaceAll(secret, name), value);
}
