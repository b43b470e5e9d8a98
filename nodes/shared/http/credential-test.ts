import type {
	ICredentialDataDecryptedObject,
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { ServiceClient } from '../../../client/api/client';
import { toResult } from '../../../client/async';
import { errorOfJob } from '../../../client/jobs/outcome';
import type { SendRequest } from '../../../client/ports';
import { sentences } from '../../../client/text';
import { wallClock } from './clock';
import { apiKeyOf, serviceAddress } from './credential';
import { parsedBody } from './transport';

const WRONG_ADDRESS = 'This is not the media service: check the Base URL';

/** Timeout of the test's request, in milliseconds. The user waits for it in the credential's window. */
const USER_WAITS_MS = 20_000;

/**
 * Tests the credential by reading the balance (spec 4.5). This is a function, and not a test request declared in the
 * credential type, because n8n would then show a connection error only as a code, such as ECONNREFUSED.
 */
export async function testCredential(
	this: ICredentialTestFunctions,
	{ data = {} }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	const { signal } = new AbortController();
	const ports = { clock: wallClock, random: Math.random, signal, maxRetries: 0 };
	const service = new ServiceClient({ ...ports, send: sendWith(this, data) });
	const read = await toResult(async () => await service.balance());
	if (read.ok) {
		const isBalance = read.value.object === 'credit_balance';
		return isBalance ? { status: 'OK', message: 'Connection successful!' } : failed(WRONG_ADDRESS);
	}
	const { code, message, description } = errorOfJob(read.error, null);
	if (code === 'unreadable_answer') return failed(WRONG_ADDRESS);
	return failed(code === 'invalid_base_url' ? message : sentences(message, description));
}

/** Sends with `request`, n8n's only HTTP helper for a credential's test. Adds the API key, and follows no redirects. */
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
		return { status: statusCode, body: parsedBody(statusCode, body, new Set([key])) };
	};
}

function failed(message: string): INodeCredentialTestResult {
	return { status: 'Error', message };
}
