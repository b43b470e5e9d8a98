import fc from 'fast-check';
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';

import { NotSentError } from '../../client/wire/connection';
import { wallClock } from '../../nodes/shared/clock';
import { connect, CREDENTIAL, serviceAddress } from '../../nodes/shared/transport';
import { contextOf } from '../support/context';
import { VirtualTime } from '../support/virtual-time';

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

/** A context whose helper reads the credential and then waits for an answer, as n8n's does. */
function waiting({
	cancel,
	readCredential,
}: {
	cancel?: AbortSignal;
	readCredential?: () => Promise<void>;
}) {
	const left: string[] = [];
	const ended: number[] = [];
	const time = new VirtualTime(0);
	const sleep = jest.spyOn(wallClock, 'sleep');
	sleep.mockImplementation(async (ms, signal) => await time.sleep(ms, signal));
	const { context } = contextOf({
		credentials,
		cancel,
		helpers: {
			httpRequestWithAuthentication: async function (
				this: IExecuteFunctions,
				credential: string,
				{ method }: IHttpRequestOptions,
			) {
				await this.getCredentials(credential);
				left.push(String(method));
				const signal = this.getExecutionCancelSignal();
				await time.sleep(1e9, signal);
				ended.push(time.now());
				throw new Error('aborted');
			},
		},
	});
	const read = context.getCredentials.bind(context);
	context.getCredentials = async (type, index) => {
		await readCredential?.();
		return await read(type, index);
	};
	return { send: connect(context), left, ended, time };
}

const GET = { method: 'GET', path: '/v1/models' } as const;
const POST = { method: 'POST', path: '/v1/images/generations', body: { prompt: 'A cat' } } as const;

afterEach(() => jest.restoreAllMocks());

describe('a request that is given up', () => {
	it.each([
		['by its own signal', {}],
		['by Stop', { stopped: true }],
	])(
		'is ended at once where it reads: %s',
		async (_case, { stopped = false }: { stopped?: boolean }) => {
			const [stop, look] = [new AbortController(), new AbortController()];
			const { send, ended, time } = waiting({ cancel: stop.signal });
			time.at(1000, () => (stopped ? stop : look).abort());
			await expect(time.run(send(GET, look.signal))).rejects.toThrow(/abort/);
			expect(ended).toEqual([1000]);
		},
	);

	it('by its signal is let come to its answer where it creates', async () => {
		const [look, minute] = [new AbortController(), new AbortController()];
		jest.spyOn(AbortSignal, 'timeout').mockReturnValue(minute.signal);
		const { send, ended, time } = waiting({});
		time.at(1000, () => look.abort());
		time.at(30_000, () => minute.abort());
		await expect(time.run(send(POST, look.signal))).rejects.toThrow(/abort/);
		expect(ended).toEqual([30_000]);
	});

	it('by Stop has five seconds to come to its id where it creates', async () => {
		const stop = new AbortController();
		const { send, ended, time } = waiting({ cancel: stop.signal });
		time.at(1000, () => stop.abort());
		await expect(time.run(send(POST))).rejects.toThrow(/abort/);
		expect(ended).toEqual([6000]);
	});

	it.each([GET, POST])('before it was handed over is never sent: $method', async (request) => {
		const stop = new AbortController();
		const { send, left } = waiting({ cancel: stop.signal });
		stop.abort();
		await expect(send(request)).rejects.toThrow(NotSentError);
		await expect(waiting({}).send(request, stop.signal)).rejects.toThrow(NotSentError);
		expect(left).toEqual([]);
	});

	it('and has been answered is left alone', async () => {
		const sleep = jest.spyOn(wallClock, 'sleep');
		const stop = new AbortController();
		const { context } = answering({ statusCode: 200, body: {} }, { cancel: stop.signal });
		await connect(context)(POST);
		stop.abort();
		expect(sleep).not.toHaveBeenCalled();
	});
});

describe('an answer that trickles in', () => {
	it.each([GET, POST])('is lost after a minute in all: $method', async (request) => {
		const minute = new AbortController();
		const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(minute.signal);
		const { send, left, ended, time } = waiting({});
		time.at(1000, () => minute.abort());
		await expect(time.run(send(request))).rejects.toThrow(/abort/);
		expect([timeout.mock.calls, left, ended]).toEqual([[[60_000]], [request.method], [1000]]);
	});
});

describe('a request with references inline', () => {
	it('is given the time to be sent on a slow line, ten of them at once', async () => {
		const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
		const value = 'A'.repeat(5_900_000);
		const inputs = [
			{ type: 'image', source: 'data', value },
			{ type: 'image', source: 'data', value: `${value}A` },
		];
		await expect(waiting({}).send({ ...POST, body: { ...POST.body, inputs } })).rejects.toThrow();
		// A megabit a second, and ten that share it.
		expect(timeout.mock.calls).toEqual([[60_000 + 737_501]]);
	});
});

describe('a credential that n8n is slow to read', () => {
	it.each(['Stop', 'the signal', 'the minute'])(
		'keeps a request from leaving after %s',
		async (what) => {
			const [stop, minute, look] = [
				new AbortController(),
				new AbortController(),
				new AbortController(),
			];
			jest.spyOn(AbortSignal, 'timeout').mockReturnValue(minute.signal);
			const readCredential = async () => await time.sleep(5000);
			const { send, left, time } = waiting({ cancel: stop.signal, readCredential });
			const end = { Stop: stop, 'the signal': look, 'the minute': minute }[what];
			time.at(1000, () => end?.abort());
			await expect(time.run(send(POST, look.signal))).rejects.toThrow(NotSentError);
			await time.run(time.sleep(60_000));
			expect(left).toEqual([]);
		},
	);

	it('and then cannot read at all is no request that may have been charged', async () => {
		const failure = new Error('Database connection timed out');
		const { send, left } = waiting({ readCredential: async () => await Promise.reject(failure) });
		await expect(send(POST)).rejects.toMatchObject({ name: 'NotSentError', cause: failure });
		expect(left).toEqual([]);
	});
});
