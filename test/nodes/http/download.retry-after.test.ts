import { CancelledError, type GenerationError } from '../../../client/api/errors';
import { Hold } from '../../../client/api/hold';
import { wallClock } from '../../../nodes/shared/http/clock';
import { VirtualTime } from '../../support/virtual-time';
import { downloading, endless, file, type World } from './downloading';

let time: VirtualTime;

beforeEach(() => {
	time = new VirtualTime(Date.UTC(2026, 0, 1));
	jest.spyOn(wallClock, 'now').mockImplementation(() => time.now());
	jest
		.spyOn(wallClock, 'sleep')
		.mockImplementation(async (ms, signal) => await time.sleep(ms, signal));
});
afterEach(() => jest.restoreAllMocks());

/** Downloads from a storage that answers the first requests with this status and Retry-After. Returns their times. */
async function after(statuses: number[], value: () => string, given: Partial<World> = {}) {
	const startedAt = time.now();
	const times: number[] = [];
	const bodyOf = async () => {
		times.push(time.now() - startedAt);
		return times.length < statuses.length ? endless('') : file();
	};
	const headersOf = () => ({ 'retry-after': value() });
	const running = downloading({ bodyOf, statusCode: statuses, headersOf, ...given });
	const failure = await time.run(running).then(
		() => null,
		(error: unknown) => error as GenerationError,
	);
	return { times, failure, took: time.now() - startedAt };
}

describe('Retry-After of a download', () => {
	it.each([429, 503])('is kept: %d', async (status) => {
		expect((await after([status, 200], () => '30')).times).toEqual([0, 30_000]);
		const inAMinute = () => new Date(time.now() + 60_000).toUTCString();
		expect((await after([status, 200], inAMinute)).times).toEqual([0, 60_000]);
	});

	it('holds the other downloads of the step back, too', async () => {
		const hold = new Hold(wallClock);
		await after([429, 200], () => '30', { hold, patienceMs: 10_000 });
		expect(hold.leftMs).toBe(30_000);
		expect((await after([200], () => '', { hold })).times).toEqual([30_000]);
	});

	it('that is longer than Timeout is an error that says so, and the generation stays charged', async () => {
		const { failure, took } = await after([429], () => '3600', { patienceMs: 60_000 });
		expect(failure).toMatchObject({
			charge: 'paid',
			code: 'download_failed',
			description: expect.stringContaining('3600 s (Retry-After)') as string,
		});
		expect(took).toBe(0);
	});

	it('ends when the step is stopped', async () => {
		const stop = new AbortController();
		time.at(time.now() + 5_000, () => stop.abort());
		const { failure, took } = await after([429], () => '60', { signal: stop.signal });
		expect(failure).toBeInstanceOf(CancelledError);
		expect(took).toBe(5_000);
	});
});
