import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';

import { requestClock, wallClock } from '../../../nodes/shared/http/clock';
import { connect } from '../../../nodes/shared/http/transport';
import { contextOf } from '../../support/context';
import { controllers } from '../../support/controllers';
import { VirtualTime } from '../../support/virtual-time';

/** Checks when a request is aborted, and what may have been sent by then. */

/** The error of a request that was certainly not sent. */
const NOT_SENT = { name: 'GenerationError', code: 'credential_unreadable', charge: 'none' };

const credentials = { baseUrl: 'https://api.example.com/', apiKey: 'svc_live_0123456789' };

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
	const { step } = contextOf({
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
	const read = step.n8n.getCredentials.bind(step.n8n);
	step.n8n.getCredentials = async (type, index) => {
		await readCredential?.();
		return await read(type, index);
	};
	return { send: connect(step), left, ended, time };
}

const GET = { method: 'GET', path: '/v1/models' } as const;
const POST = { method: 'POST', path: '/v1/images/generations', body: { prompt: 'A cat' } } as const;

afterEach(() => jest.restoreAllMocks());

describe('an aborted request', () => {
	it.each([
		['by its own signal', {}],
		['by Stop', { stopped: true }],
	])(
		'ends immediately if it only reads: %s',
		async (_case, { stopped = false }: { stopped?: boolean }) => {
			const [stop, look] = [new AbortController(), new AbortController()];
			const { send, ended, time } = waiting({ cancel: stop.signal });
			time.at(1000, () => (stopped ? stop : look).abort());
			await expect(time.run(send(GET, look.signal))).rejects.toThrow(/abort/);
			expect(ended).toEqual([1000]);
		},
	);

	it.each(['its signal', 'Stop', 'the minute'])(
		"is not waited for after %s, although n8n's helper continues",
		async (what) => {
			const [stop, minute, look] = controllers(3);
			jest.spyOn(AbortSignal, 'timeout').mockReturnValue(minute.signal);
			const httpRequestWithAuthentication = async () => {
				const end = { Stop: stop, 'the minute': minute, 'its signal': look }[what];
				setImmediate(() => end?.abort());
				return await new Promise<never>(() => undefined);
			};
			const helpers = { httpRequestWithAuthentication };
			const { step } = contextOf({ credentials, cancel: stop.signal, helpers });
			await expect(connect(step)(GET, look.signal)).rejects.toThrow(/abort/);
		},
	);

	it('by its signal still waits for the response to a creating request', async () => {
		const [look, minute] = [new AbortController(), new AbortController()];
		jest.spyOn(AbortSignal, 'timeout').mockReturnValue(minute.signal);
		const { send, ended, time } = waiting({});
		time.at(1000, () => look.abort());
		time.at(30_000, () => minute.abort());
		await expect(time.run(send(POST, look.signal))).rejects.toThrow(/abort/);
		expect(ended).toEqual([30_000]);
	});

	it('by Stop gives a creating request five seconds to return its id', async () => {
		const stop = new AbortController();
		const { send, ended, time } = waiting({ cancel: stop.signal });
		time.at(1000, () => stop.abort());
		await expect(time.run(send(POST))).rejects.toThrow(/abort/);
		expect(ended).toEqual([6000]);
	});

	it('by Stop and answered in time leaves no pending timers', async () => {
		const stop = new AbortController();
		const time = new VirtualTime(0);
		const sleep = jest.spyOn(wallClock, 'sleep');
		sleep.mockImplementation(async (ms, signal) => await time.sleep(ms, signal));
		const httpRequestWithAuthentication = async () => {
			await time.sleep(2000);
			return { statusCode: 200, body: {} };
		};
		const helpers = { httpRequestWithAuthentication };
		const { step } = contextOf({ credentials, cancel: stop.signal, helpers });
		time.at(1000, () => stop.abort());
		await expect(time.run(connect(step)(POST))).resolves.toMatchObject({ status: 200 });
		expect(sleep.mock.calls.map(([ms, signal]) => [ms, signal?.aborted])).toEqual([[5000, true]]);
	});

	it.each([GET, POST])(
		'is never sent if it was aborted before n8n received it: $method',
		async (request) => {
			const stop = new AbortController();
			const { send, left } = waiting({ cancel: stop.signal });
			stop.abort();
			await expect(send(request)).rejects.toMatchObject(NOT_SENT);
			await expect(waiting({}).send(request, stop.signal)).rejects.toMatchObject(NOT_SENT);
			expect(left).toEqual([]);
		},
	);

	it('that was already answered is left alone', async () => {
		const sleep = jest.spyOn(wallClock, 'sleep');
		const stop = new AbortController();
		const httpRequestWithAuthentication = async () => ({ statusCode: 200, body: {} });
		const helpers = { httpRequestWithAuthentication };
		const { step } = contextOf({ credentials, cancel: stop.signal, helpers });
		await connect(step)(POST);
		stop.abort();
		expect(sleep).not.toHaveBeenCalled();
	});
});

describe('a response that trickles in', () => {
	it.each([GET, POST])('is lost after a minute in total: $method', async (request) => {
		const minute = new AbortController();
		const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(minute.signal);
		const { send, left, ended, time } = waiting({});
		time.at(1000, () => minute.abort());
		await expect(time.run(send(request))).rejects.toThrow(/abort/);
		expect([left, ended]).toEqual([[request.method], [1000]]);
		expect(timeout.mock.calls.map(([ms]) => Math.round(ms / 1000))).toEqual([60]);
	});
});

describe('a process that is paused while a request is under way', () => {
	/** The timers of the request, fired manually, and a helper that responds on demand. */
	function paused() {
		const timers: Array<{ ms: number; fire: () => void }> = [];
		jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
			const timer = new AbortController();
			timers.push({ ms, fire: () => timer.abort() });
			return timer.signal;
		});
		let now = 0;
		jest.spyOn(requestClock, 'now').mockImplementation(() => now);
		let answer = () => {};
		const httpRequestWithAuthentication = async () =>
			await new Promise((resolve) => (answer = () => resolve({ statusCode: 200, body: {} })));
		const { step } = contextOf({ credentials, helpers: { httpRequestWithAuthentication } });
		const fireAt = async (index: number, ms: number) => {
			now = ms;
			timers[index].fire();
			await new Promise((resolve) => setImmediate(resolve));
		};
		return { sent: connect(step)(POST), timers, fireAt, answer: () => answer() };
	}

	it('gets the response that arrived in the meantime, although its timer fires first', async () => {
		const { sent, timers, fireAt, answer } = paused();
		await new Promise((resolve) => setImmediate(resolve));
		await fireAt(0, 65_000);
		answer();
		expect(await sent).toMatchObject({ status: 200 });
		expect(timers.map(({ ms }) => Math.round(ms / 1000))).toEqual([60, 5]);
	});

	it('gives up if nothing has arrived', async () => {
		const { sent, fireAt } = paused();
		const lost = expect(sent).rejects.toThrow(/abort/);
		await new Promise((resolve) => setImmediate(resolve));
		await fireAt(0, 65_000);
		await fireAt(1, 70_000);
		await lost;
	});
});

describe('a large request gets the longest time that a request may take:', () => {
	const value = 'A'.repeat(5_900_000);

	it.each<[string, object]>([
		[
			'references inline',
			{ inputs: [value, value].map((data) => ({ type: 'image', source: 'data', value: data })) },
		],
		['additional fields', { parameters: { masks: [{ data: value }] } }],
		['a text in another script', { prompt: '\u{6d77}'.repeat(1_000_000) }],
	])('%s', async (_, fields) => {
		const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
		const body = { ...POST.body, ...fields };
		await expect(waiting({}).send({ ...POST, body })).rejects.toThrow();
		// Longer, and another execution could take it for lost.
		expect(timeout.mock.calls).toEqual([[90_000]]);
	});
});
