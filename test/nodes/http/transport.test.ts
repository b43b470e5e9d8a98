import type {
	IAdditionalCredentialOptions,
	IExecuteFunctions,
	IHttpRequestOptions,
} from 'n8n-workflow';

import { apiKeyOf, CREDENTIAL } from '../../../nodes/shared/http/credential';
import { connect } from '../../../nodes/shared/http/transport';
import { contextOf } from '../../support/context';

const KEY = `svc_live_${'0123456789abcdef'.repeat(2)}01234567`;
const credentials = { baseUrl: 'https://api.example.com/', apiKey: KEY };

type Answer = { statusCode: number; body?: unknown };

/** Returns a context that records its requests and responds with the given answer. */
function answering(answer: Answer, given: { apiKey?: string; cancel?: AbortSignal } = {}) {
	const { apiKey = KEY, cancel } = given;
	const sent: IHttpRequestOptions[] = [];
	const named: string[] = [];
	const { step } = contextOf({
		cancel,
		credentials: { ...credentials, apiKey },
		helpers: {
			httpRequestWithAuthentication: async function (
				this: IExecuteFunctions,
				credential: string,
				options: IHttpRequestOptions,
			) {
				named.push(credential);
				sent.push(options);
				return answer;
			},
		},
	});
	return { step, sent, named };
}

describe('a request', () => {
	it('goes to the service’s address with the credential, and follows no redirect', async () => {
		const { step, sent, named } = answering({ statusCode: 200, body: { id: 'x' } });
		const send = connect(step);
		const request = {
			method: 'GET',
			path: '/v1/models',
			query: { type: 'image' },
		} as const;
		expect(await send(request)).toEqual({ status: 200, body: { id: 'x' } });
		expect(named).toEqual([CREDENTIAL]);
		expect(sent).toEqual([
			{
				method: 'GET',
				url: 'https://api.example.com/v1/models',
				qs: { type: 'image' },
				body: undefined,
				json: true,
				encoding: 'text',
				timeout: 0,
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				disableFollowRedirect: true,
			},
		]);
	});
});

describe('an id that is a number', () => {
	const sentAs = async (body: string) =>
		(await connect(answering({ statusCode: 200, body }).step)({ method: 'GET', path: '/x' })).body;

	it('keeps all of its digits, as they were sent', async () => {
		expect(
			await sentAs('{"id":9007199254740993,"data":[{"generation_id" : 12345678901234567890}]}'),
		).toEqual({
			id: '9007199254740993',
			data: [{ generation_id: '12345678901234567890' }],
		});
	});

	it('changes nothing else: other numbers, and a text that looks like one', async () => {
		const body = {
			id: 'x',
			created: 1767225600,
			paid: 12345678901234568,
			said: '"id": 12345678901234567890',
		};
		expect(await sentAs(JSON.stringify(body))).toEqual(body);
	});
});

/** A context whose helper reads the credential as n8n's does, unless it is handed one. Edits are what is read in turn. */
function edited(...readings: Array<{ baseUrl?: string; apiKey?: string }>) {
	const sent: string[] = [];
	let reads = 0;
	const { step } = contextOf({
		helpers: {
			httpRequestWithAuthentication: async function (
				this: IExecuteFunctions,
				type: string,
				{ url }: IHttpRequestOptions,
				given?: IAdditionalCredentialOptions,
			) {
				const read = async () => await this.getCredentials<{ apiKey?: string }>(type);
				const { apiKey } = given?.credentialsDecrypted?.data ?? (await read());
				sent.push(`${String(apiKey)} to ${url}`);
				const error = { code: 'invalid_api_key', message: `${KEYS.join(' or ')}?` };
				return { statusCode: 401, body: { error } };
			},
		},
	});
	step.n8n.getCredentials = async <T extends object>() =>
		({ ...credentials, ...readings[Math.min(reads++, readings.length - 1)] }) as T;
	return { send: connect(step), sent };
}

const KEYS = ['svc_live_old', 'svc_live_new'];
const LIST = { method: 'GET', path: '/v1/models' } as const;

describe('a credential that is edited while a step runs', () => {
	const [old, fresh] = KEYS;
	const elsewhere = { baseUrl: 'https://other.example.com', apiKey: fresh };

	it('sends its new key to no address but its own', async () => {
		const { send, sent } = edited({ apiKey: old }, elsewhere);
		await send(LIST);
		await send(LIST);
		expect(sent).toEqual([
			`${old} to https://api.example.com/v1/models`,
			`${fresh} to https://other.example.com/v1/models`,
		]);
	});

	it('uses its new key if only the key was replaced', async () => {
		const { send, sent } = edited({ apiKey: old }, { apiKey: fresh });
		await send(LIST);
		await send(LIST);
		expect(sent).toEqual(KEYS.map((key) => `${key} to https://api.example.com/v1/models`));
	});

	it('has every key that it had cut out of what the service says', async () => {
		const { send } = edited({ apiKey: old }, { apiKey: fresh });
		await send(LIST);
		expect(JSON.stringify(await send(LIST))).not.toMatch(/svc_live/);
	});
});

describe('the key', () => {
	it.each([KEY, 'abc'])('is removed from what an error says about it: %s', async (apiKey) => {
		const body = (key: string) => ({ error: { message: `No such key: ${key} (${key})` } });
		const { step } = answering({ statusCode: 401, body: body(apiKey) }, { apiKey });
		const answer = await connect(step)({ method: 'GET', path: '/v1/models' });
		expect(answer).toEqual({ status: 401, body: body('[API key]') });
	});

	const quoting = (key: string) => `Could not use ${key}`;

	it.each<[string, (said: string) => object]>([
		['the error of an output', (said) => ({ data: [{ error: { message: said } }] })],
		['the names in an error of an output', (said) => ({ data: [{ error: [{ [said]: 1 }] }] })],
		['an unknown status', (said) => ({ status: said, data: [{ status: said }] })],
	])('is removed from %s', async (_, body) => {
		const { step } = answering({ statusCode: 200, body: { id: 'x', ...body(quoting(KEY)) } });
		const answer = await connect(step)({ method: 'GET', path: '/v1/generations/x' });
		expect(answer.body).toEqual({ id: 'x', ...body(quoting('[API key]')) });
	});

	it('does not change an id of which a very short one is a part', async () => {
		const { step } = answering({ statusCode: 200, body: { id: 'gen-abc' } }, { apiKey: 'abc' });
		const answer = await connect(step)({ method: 'GET', path: '/v1/models' });
		expect(answer.body).toEqual({ id: 'gen-abc' });
	});

	it.each([
		` ${KEY}\u200b`,
		`\u200bBearer\u200b${KEY}`,
		`${KEY.slice(0, 20)}\n${KEY.slice(20)}\r\n`,
	])('is removed as it was sent, also if it was pasted as %j', async (apiKey) => {
		const sent = apiKeyOf(apiKey);
		expect(sent).toBe(KEY);
		const body = (key: string) => ({ error: { code: 'server_error', message: `Got ${key}` } });
		const { step } = answering({ statusCode: 500, body: body(`Bearer ${sent}`) }, { apiKey });
		const answer = await connect(step)({ method: 'GET', path: '/v1/models' });
		expect(answer.body).toEqual(body('Bearer [API key]'));
	});
});
