import fc from 'fast-check';
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';

import { connect, CREDENTIAL, serviceAddress } from '../../nodes/shared/transport';
import { contextOf } from '../support/context';

const KEY = `svc_live_${'0123456789abcdef'.repeat(2)}01234567`;
const credentials = { baseUrl: 'https://api.example.com/', apiKey: KEY };

type Answer = { statusCode: number; body?: unknown };

/** A context whose requests are kept, and answered with the given. */
function answering(answer: Answer, given: { apiKey?: string; cancel?: AbortSignal } = {}) {
	const { apiKey = KEY, cancel } = given;
	const sent: IHttpRequestOptions[] = [];
	const named: string[] = [];
	const { context } = contextOf({
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
	return { context, sent, named };
}

describe('the address of the service', () => {
	it.each([
		['https://api.example.com', 'https://api.example.com'],
		['https://api.example.com/', 'https://api.example.com'],
		['https://api.example.com/v1', 'https://api.example.com'],
		['https://api.example.com/v1/', 'https://api.example.com'],
		['https://api.example.com/v1//', 'https://api.example.com'],
		['  https://api.example.com/v1\n', 'https://api.example.com'],
		['https://api.example.com/media/v1', 'https://api.example.com/media'],
		['https://api.example.com/v10', 'https://api.example.com/v10'],
		['http://localhost:3000/', 'http://localhost:3000'],
		['', ''],
		[undefined, ''],
		[null, ''],
	])('%j is %s', (typed, address) => {
		expect(serviceAddress(typed)).toBe(address);
	});

	it('is the same whatever people paste behind it', () => {
		const behind = fc.constantFrom('', '/', '//', '/v1', '/v1/', '/v1///', '\n', '/v1 ');
		fc.assert(
			fc.property(fc.webUrl({ withFragments: false }), behind, (url, typed) => {
				const bare = url.replace(/\/+$/, '').replace(/\/v1$/, '');
				fc.pre(!/\/(v1)?$/.test(bare));
				expect(serviceAddress(bare + typed)).toBe(bare);
			}),
		);
	});
});

describe('a request', () => {
	it('goes to the service’s address with the credential, and follows no redirect', async () => {
		const { context, sent, named } = answering({ statusCode: 200, body: { id: 'x' } });
		const send = connect(context);
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
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				disableFollowRedirect: true,
			},
		]);
	});

	it('takes its body along, and never the key: that is the credential’s', async () => {
		const { context, sent } = answering({ statusCode: 200, body: {} });
		const body = { prompt: 'A cat' };
		await connect(context)({ method: 'POST', path: '/v1/images/generations', body });
		expect(sent[0]).toMatchObject({ method: 'POST', body });
		expect(JSON.stringify(sent)).not.toContain(KEY);
	});

	it('rejects as n8n’s helper does', async () => {
		const failure = new Error('socket hang up');
		const { context } = contextOf({
			credentials,
			helpers: { httpRequestWithAuthentication: async () => await Promise.reject(failure) },
		});
		const send = connect(context);
		await expect(send({ method: 'GET', path: '/v1/models' })).rejects.toBe(failure);
	});
});

describe('the key', () => {
	it.each([400, 401, 403, 500])('is taken out of what a %i says of it', async (statusCode) => {
		const body = { error: { code: 'invalid_api_key', message: `No such key: ${KEY} (${KEY})` } };
		const { context } = answering({ statusCode, body });
		const answer = await connect(context)({ method: 'GET', path: '/v1/models' });
		expect(answer).toEqual({
			status: statusCode,
			body: {
				error: { code: 'invalid_api_key', message: 'No such key: [API key] ([API key])' },
			},
		});
	});

	it('is left where it is part of an answer that is no error: an id or a URL would be another', async () => {
		const body = { id: `gen-${KEY}`, data: [{ url: `https://storage/${KEY}` }] };
		const { context } = answering({ statusCode: 200, body });
		const answer = await connect(context)({ method: 'GET', path: '/v1/models' });
		expect(answer).toEqual({ status: 200, body });
	});

	it('is taken out of why a generation has failed', async () => {
		const body = { id: `gen-${KEY}`, status: 'failed', error: { message: `Bad key ${KEY}` } };
		const { context } = answering({ statusCode: 200, body });
		const answer = await connect(context)({ method: 'GET', path: '/v1/generations/x' });
		expect(answer.body).toEqual({ ...body, error: { message: 'Bad key [API key]' } });
	});

	it('is taken out wherever an error says it: in lists, and in what these hold', async () => {
		const said = (key: string) => [`Bad key ${key}`, { tried: [key, 1, null] }];
		const { context } = answering({ statusCode: 200, body: { id: 'x', error: said(KEY) } });
		const answer = await connect(context)({ method: 'GET', path: '/v1/generations/x' });
		expect(answer.body).toEqual({ id: 'x', error: said('[API key]') });
	});

	it('that is the name of a field leaves the answer readable', async () => {
		const body = { error: { message: 'There is no error' } };
		const { context } = answering({ statusCode: 400, body }, { apiKey: 'error' });
		const answer = await connect(context)({ method: 'GET', path: '/v1/models' });
		expect(answer.body).toEqual({ error: { message: 'There is no [API key]' } });
	});

	it.each(['a page', undefined, null])('is looked for in any answer: %j', async (body) => {
		const { context } = answering({ statusCode: 500, body });
		const answer = await connect(context)({ method: 'GET', path: '/v1/models' });
		expect(answer).toEqual({ status: 500, body });
	});

	it('that is empty takes nothing out', async () => {
		const { context } = contextOf({
			credentials: { baseUrl: 'https://api.example.com', apiKey: '' },
			helpers: {
				httpRequestWithAuthentication: async () => ({ statusCode: 401, body: { error: 'no' } }),
			},
		});
		const answer = await connect(context)({ method: 'GET', path: '/v1/models' });
		expect(answer.body).toEqual({ error: 'no' });
	});
});
