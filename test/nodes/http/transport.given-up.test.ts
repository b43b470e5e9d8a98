import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';

import { wallClock } from '../../../nodes/shared/http/clock';
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
});

describe('a response that trickles in', () => {
	it.each([GET, POST])('is lost after a minute and a half in total: $method', async (request) => {
		const minute = new AbortController();
		const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(minute.signal);
		const { send, left, ended, time } = waiting({});
		time.at(1000, () => minute.abort());
		await expect(time.run(send(request))).rejects.toThrow(/abort/);
		expect([left, ended]).toEqual([[request.method], [1000]]);
		expect(timeout.mock.calls.map(([ms]) => ms)).toEqual([90_000]);
	});
});
