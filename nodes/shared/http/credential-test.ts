import type {
	ICredentialDataDecryptedObject,
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { ServiceClient } from '../../../client/api/client';
import { GenerationError } from '../../../client/api/errors';
import { raceAbort, toResult } from '../../../client/async';
import type { SendRequest } from '../../../client/ports';
import { sentences } from '../../../client/text';
import { wallClock } from './clock';
import { apiKeyOf, serviceAddress } from './credential';
import { noResponse, parsedBody, USER_WAITS_MS, withoutKeys } from './transport';

const WRONG_ADDRESS = 'This is not the media service: check the Base URL';
/**
 * Tests the credential: reads the balance (spec 4.5). For a declared test request, n8n shows the code of a connection
 * error, such as ECONNREFUSED, which no rule can replace.
 */
export async function testCredential(
	this: ICredentialTestFunctions,
	{ data = {} }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	const end = AbortSignal.timeout(USER_WAITS_MS);
	const ports = { clock: wallClock, random: Math.random, signal: end, maxRetries: 0 };
	const service = new ServiceClient({ ...ports, send: sendWith(this, data) });
	const read = await toResult(async () => await raceAbort(end, service.balance()));
	if (read.ok && read.value.object === 'credit_balance') {
		return { status: 'OK', message: 'Connection successful!' };
	}
	if (read.ok) return failed(WRONG_ADDRESS);
	const error = read.error instanceof GenerationError ? read.error : noResponse();
	const { code, status, message, description, retry } = error;
	if (code === 'unreadable_answer') return failed(WRONG_ADDRESS);
	// The advice for a step is about its retries and options.
	if (status !== null && retry !== 'never') return failed(sentences(message, 'Try again later'));
	return failed(code === 'invalid_base_url' ? message : sentences(message, description));
}

/** The only request that n8n offers to a credential's test, with the key and without redirects. */
function sendWith(
	{ helpers: { request } }: ICredentialTestFunctions,
	{ apiKey, baseUrl }: ICredentialDataDecryptedObject,
): SendRequest {
	return async ({ method, path }) => {
		const key = apiKeyOf(apiKey);
		const { statusCode, body } = (await request({
			method,
			uri: `${serviceAddress(baseUrl)}${path}`,
			headers: { Authorization: `Bearer ${key}` },
			json: true,
			simple: false,
			resolveWithFullResponse: true,
			followRedirect: false,
			followAllRedirects: false,
			timeout: USER_WAITS_MS,
		})) as { statusCode: number; body: unknown };
		// n8n returns the body of an error as text.
		return withoutKeys({ status: statusCode, body: parsedBody(body) }, new Set([key]));
	};
}

function failed(message: string): INodeCredentialTestResult {
	return { status: 'Error', message };
}
