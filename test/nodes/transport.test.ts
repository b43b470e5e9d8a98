import fc from 'fast-check';
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';

import { wallClock } from '../../nodes/shared/clock';
import { connect, CREDENTIAL, probeWith, serviceAddress } from '../../nodes/shared/transport';
import { contextOf } from '../support/context';
import { VirtualTime } from '../support/virtual-time';

const KEY = `svc_live_${'0123456789abcdef'.repeat(2)}01234567`;
const credentials = { baseUrl: 'https://api.example.com/', apiKey: KEY };

type Answer = { statusCode: number; body?: unknown };

/** A context whose requests are kept, and answered with the given. */
function answering(answer: Answer, given: { cancel?: AbortSignal } = {}) {
	const sent: IHttpRequestOptions[] = [];
	const named: string[] = [];
	const senders: IExecuteFunctions[] = [];
	const { context } = contextOf({
		...given,
		credentials,
		helpers: {
			httpRequestWithAuthentication: async function (
				this: IExecuteFunctions,
				credential: string,
				options: IHttpRequestOptions,
			) {
				senders.push(this);
				named.push(credential);
				sent.push(options);
				return answer;
			},
			httpRequest: async (options: IHttpRequestOptions) => {
				sent.push(options);
				return answer;
			},
		},
	});
	return { context, sent, named, senders };
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
		const send = await connect(context);
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
				timeout: 60_000,
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				disableFollowRedirect: true,
			},
		]);
	});

	it('takes its body along, and never the key: that is the credential’s', async () => {
		const { context, sent } = answering({ statusCode: 200, body: {} });
		const body = { prompt: 'A cat' };
		await (
			await connect(context)
		)({ method: 'POST', path: '/v1/images/generations', body });
		expect(sent[0]).toMatchObject({ method: 'POST', body });
		expect(JSON.stringify(sent)).not.toContain(KEY);
	});

	it('rejects as n8n’s helper does', async () => {
		const failure = new Error('socket hang up');
		const { context } = contextOf({
			credentials,
			helpers: { httpRequestWithAuthentication: async () => await Promise.reject(failure) },
		});
		const send = await connect(context);
		await expect(send({ method: 'GET', path: '/v1/models' })).rejects.toBe(failure);
	});
});

describe('the key', () => {
	it.each([400, 401, 403, 500])('is taken out of what a %i says of it', async (statusCode) => {
		const body = { error: { code: 'invalid_api_key', message: `No such key: ${KEY} (${KEY})` } };
		const { context } = answering({ statusCode, body });
		const answer = await (await connect(context))({ method: 'GET', path: '/v1/models' });
		expect(answer).toEqual({
			status: statusCode,
			body: {
				error: { code: 'invalid_api_key', message: 'No such key: [API key] ([API key])' },
			},
		});
	});

	it.each(['a page', undefined, null])('is looked for in any answer: %j', async (body) => {
		const { context } = answering({ statusCode: 500, body });
		const answer = await (await connect(context))({ method: 'GET', path: '/v1/models' });
		expect(answer).toEqual({ status: 500, body });
	});

	it('that is empty takes nothing out', async () => {
		const { context } = contextOf({
			credentials: { baseUrl: 'https://api.example.com', apiKey: '' },
			helpers: {
				httpRequestWithAuthentication: async () => ({ statusCode: 401, body: { error: 'no' } }),
			},
		});
		const answer = await (await connect(context))({ method: 'GET', path: '/v1/models' });
		expect(answer.body).toEqual({ error: 'no' });
	});
});

describe('a request under way when the user stops', () => {
	async function signalOf(method: 'GET' | 'POST', stop: AbortController) {
		const { context, senders } = answering({ statusCode: 200, body: {} }, { cancel: stop.signal });
		await (
			await connect(context)
		)({ method, path: '/v1/images/generations' });
		return senders[0].getExecutionCancelSignal();
	}

	it('that reads is aborted with the step', async () => {
		const stop = new AbortController();
		expect(await signalOf('GET', stop)).toBe(stop.signal);
	});

	it('that creates has five seconds to come to its id', async () => {
		const time = new VirtualTime(0);
		const sleep = jest.spyOn(wallClock, 'sleep');
		sleep.mockImplementation(async (ms, signal) => await time.sleep(ms, signal));
		const stop = new AbortController();
		const abortedAt: number[] = [];
		const { context } = contextOf({
			credentials,
			cancel: stop.signal,
			helpers: {
				httpRequestWithAuthentication: async function (this: IExecuteFunctions) {
					const signal = this.getExecutionCancelSignal();
					signal?.addEventListener('abort', () => abortedAt.push(time.now()));
					await time.sleep(60_000, signal);
					throw new Error('aborted');
				},
			},
		});
		time.at(1000, () => stop.abort());
		const send = await connect(context);
		const task = send({ method: 'POST', path: '/v1/images/generations' });
		await expect(time.run(task)).rejects.toThrow('aborted');
		expect(abortedAt).toEqual([6000]);
		sleep.mockRestore();
	});

	it('that creates and has been answered is left alone', async () => {
		const sleep = jest.spyOn(wallClock, 'sleep');
		const stop = new AbortController();
		await signalOf('POST', stop);
		stop.abort();
		expect(sleep).not.toHaveBeenCalled();
		sleep.mockRestore();
	});

	it('has no signal where n8n gives none', async () => {
		const { context, senders } = answering({ statusCode: 200, body: {} });
		await (
			await connect(context)
		)({ method: 'POST', path: '/v1/images/generations' });
		expect(senders[0]).toBe(context);
	});
});

describe('the probe of a presigned URL', () => {
	it('asks for the first byte, without the key, and tells the status', async () => {
		const stop = new AbortController();
		const { context, sent, named } = answering({ statusCode: 403 }, { cancel: stop.signal });
		const url = 'https://storage.example.com/a.png?X-Amz-Signature=0';
		expect(await probeWith(context)(url)).toMatchObject({ status: 403 });
		expect(named).toEqual([]);
		expect(sent).toEqual([
			expect.objectContaining({
				method: 'GET',
				url,
				headers: { Range: 'bytes=0-0' },
				abortSignal: stop.signal,
				ignoreHttpStatusErrors: true,
			}),
		]);
	});
});
