import type {
	IAllExecuteFunctions,
	IExecuteFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';

import { onAbort } from '../../client/basics/abort';
import type { ProbeUrl, SendRequest, ServiceResponse } from '../../client/basics/ports';
import { wallClock } from './clock';

export const CREDENTIAL = 'mediaGenerationApi';

/** Where n8n's HTTP helpers are bound to the client's ports. Nothing else in this package sends anything to the service. */

/** The service answers at once (spec 1.3); what takes longer than this is lost. */
const REQUEST_TIMEOUT_MS = 60_000;

/** A creating request that is under way when the user stops may take this long to come to its id. */
const GRACE_AFTER_CANCEL_MS = 5_000;

/** The service's address without a trailing slash or `/v1`, both of which people paste. */
export function serviceAddress(baseUrl: unknown): string {
	return String(baseUrl ?? '')
		.trim()
		.replace(/\/+$/, '')
		.replace(/\/v1$/, '');
}

/**
 * Binds the request port to the node's credential. Redirects are not followed, so the key stays at the service's own
 * origin; statuses are left to the client; the key is removed from whatever the service says of an error.
 */
export async function connect(
	context: IExecuteFunctions | ILoadOptionsFunctions,
): Promise<SendRequest> {
	const { baseUrl, apiKey } = await context.getCredentials(CREDENTIAL);
	const address = serviceAddress(baseUrl);
	return async ({ method, path, query, body, headers }) => {
		const options: IHttpRequestOptions = {
			method,
			url: `${address}${path}`,
			qs: query,
			body,
			headers,
			json: true,
			timeout: REQUEST_TIMEOUT_MS,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
		};
		const send = async (sender: typeof context) =>
			(await context.helpers.httpRequestWithAuthentication.call(
				sender as IAllExecuteFunctions,
				CREDENTIAL,
				options,
			)) as { statusCode: number; body: unknown };
		const response = method === 'POST' ? await finishing(context, send) : await send(context);
		// Space around a pasted key does not reach the service, so it is not in what the service says of it either.
		return withoutKey({ status: response.statusCode, body: response.body }, String(apiKey).trim());
	};
}

/** Asks a presigned URL for its first byte, without the key (spec 4.3). */
export function probeWith(context: IExecuteFunctions): ProbeUrl {
	return async (url) => {
		const response = (await context.helpers.httpRequest({
			method: 'GET',
			url,
			headers: { Range: 'bytes=0-0' },
			encoding: 'arraybuffer',
			timeout: REQUEST_TIMEOUT_MS,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			abortSignal: context.getExecutionCancelSignal?.(),
		})) as { statusCode: number };
		return { status: response.statusCode, oneByte: true };
	};
}

/**
 * Sends with the same context, but for its cancel signal, which comes late: n8n aborts requests on Stop, and the id of a
 * generation that is being paid for at that moment would be lost.
 */
async function finishing<C extends IExecuteFunctions | ILoadOptionsFunctions, T>(
	context: C,
	send: (sender: C) => Promise<T>,
): Promise<T> {
	const cancel =
		'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
	if (!cancel) return await send(context);
	const late = new AbortController();
	const over = new AbortController();
	const giveUp = () =>
		void wallClock.sleep(GRACE_AFTER_CANCEL_MS, over.signal).then(() => late.abort());
	const forget = onAbort(cancel, giveUp);
	try {
		const getExecutionCancelSignal = { value: () => late.signal };
		return await send(Object.create(context, { getExecutionCancelSignal }) as C);
	} finally {
		forget();
		over.abort();
	}
}

function withoutKey(response: ServiceResponse, apiKey: string): ServiceResponse {
	if (apiKey === '') return response;
	const text = JSON.stringify(response.body ?? null);
	if (!text.includes(apiKey)) return response;
	return { ...response, body: JSON.parse(text.split(apiKey).join('[API key]')) as unknown };
}
