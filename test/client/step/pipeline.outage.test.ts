import type { ServiceResponse } from '../../../client/ports';
import { networkError, refusal } from '../../support/answers';
import { unreachable, type Look, type Script } from '../../support/fake-service';
import { batch, creating, errorIn, inShort, Step, waitingFor } from '../../support/step';

const TIMEOUT_MS = 1_800_000;

const refusedConnection = () => networkError('ECONNREFUSED', 'connect');
const answering = (response: ServiceResponse): Look => {
	return () => response;
};
const failing = (error: () => Error): Look => {
	return () => {
		throw error();
	};
};

/** What a status check may get while the service, the network or a gateway is down. */
const OUTAGES: Array<[name: string, look: Look]> = [
	['refused connections', failing(refusedConnection)],
	['a name server that is down', failing(() => networkError('ENOTFOUND'))],
	['connections that close', failing(() => networkError('ECONNRESET', 'read'))],
	['a 503 of the service', answering(refusal(503, 'service_unavailable'))],
	['a 502 of a gateway', answering({ status: 502, body: '<html>Bad Gateway' })],
	['a 429', answering({ status: 429, body: '' })],
	['an empty 202', answering({ status: 202, body: '' })],
	['half a response', answering({ status: 200, body: '{"id":"gen' })],
];

/** Answers all status checks like this, from now on and for this time. */
function duringNext(step: Step, ms: number, look: Look): void {
	const end = step.time.now() + ms;
	const inTime: Look = () => (step.time.now() < end ? look() : undefined);
	step.fake.orderLooks(...Array.from({ length: 2_000 }, () => inTime));
}

describe.each(OUTAGES)('status checks during %s', (_, look) => {
	it('do not end an item before its Timeout', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.durationMs = () => 30_000;
		duringNext(step, 150_000, look);
		const { outcomes } = await step.run(batch(3, { timeoutMs: TIMEOUT_MS }));
		expect(outcomes.map(inShort)).toEqual([1, 2, 3].map((n) => `completed generation-${n}`));
		expect(step.elapsed).toBeLessThan(150_000 + 31_000);
	});

	it('are named by the error of the Timeout', async () => {
		const step = new Step({ stopOnError: false });
		duringNext(step, TIMEOUT_MS, look);
		const { outcomes } = await step.run(batch(1, { timeoutMs: 200_000 }));
		const error = errorIn(outcomes[0]);
		expect(error).toMatchObject({
			code: 'timeout',
			charge: 'paid',
			generation: { id: 'generation-1' },
			details: expect.stringContaining('The last status check failed: '),
		});
		expect(step.elapsed).toBe(200_000);
		// The backoff grows to 30 s.
		expect(step.fake.looksAt('generation-1').length).toBeLessThan(20);
	});

	it('are not named any more once a later check has succeeded', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.durationMs = () => 999_000;
		duringNext(step, 60_000, look);
		const { outcomes } = await step.run(batch(1, { timeoutMs: 200_000 }));
		expect(errorIn(outcomes[0]).details).toBe('It is still processing.');
	});
});

describe('an item whose creating request does not reach the service', () => {
	it('is sent until its Timeout once the service has answered', async () => {
		const step = new Step({ stopOnError: false, maxConcurrent: 1 });
		step.fake.order('p1', ...Array.from({ length: 40 }, () => unreachable));
		const { outcomes, stats } = await step.run(batch(2, { timeoutMs: TIMEOUT_MS }));
		expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'done']);
		expect(stats.retries).toBe(40);
	});

	it('ends at its Timeout, with nothing charged', async () => {
		const step = new Step({ stopOnError: false, maxConcurrent: 1 });
		step.fake.order('p1', ...Array.from({ length: 400 }, () => unreachable));
		const { outcomes } = await step.run([
			creating('p0', 0),
			creating('p1', 1, { timeoutMs: 300_000 }),
		]);
		expect(errorIn(outcomes[1])).toMatchObject({ code: 'connection_failed', charge: 'none' });
		expect(step.elapsed).toBeGreaterThan(300_000);
		expect(step.elapsed).toBeLessThan(330_000);
	});

	it.each([
		[45_000, 'done'],
		[TIMEOUT_MS, 'error'],
	])('is sent for a minute if nothing has answered: down for %d ms', async (downMs, kind) => {
		const step = new Step({ stopOnError: false });
		const until = step.time.now() + downMs;
		const downAtFirst: Script = (make) => (step.time.now() < until ? unreachable(make) : make());
		for (let item = 0; item < 20; item++) {
			step.fake.order(`p${item}`, ...Array.from({ length: 90 }, () => downAtFirst));
		}
		const { outcomes } = await step.run(batch(20));
		expect(new Set(outcomes.map((one) => one.kind))).toEqual(new Set([kind]));
		if (kind === 'error') expect(step.elapsed).toBeGreaterThanOrEqual(60_000);
		expect(step.elapsed).toBeLessThanOrEqual(90_000);
	});
});

describe('a status check of an id by which nothing was answered yet', () => {
	it('is repeated for a minute', async () => {
		const step = new Step({ stopOnError: false });
		await step.run(batch(1, { wait: false }));
		duringNext(step, 45_000, failing(refusedConnection));
		const { outcomes } = await step.runAgain([waitingFor('generation-1')]);
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
	});

	it('ends after a minute: the Base URL may be wrong', async () => {
		const step = new Step({ stopOnError: false });
		duringNext(step, TIMEOUT_MS, failing(refusedConnection));
		const ids = Array.from({ length: 20 }, (_, item) => waitingFor(`id-${item}`, item));
		const { outcomes } = await step.run(ids);
		for (const outcome of outcomes) expect(errorIn(outcome).code).toBe('connection_failed');
		expect(step.elapsed).toBeGreaterThanOrEqual(60_000);
		expect(step.elapsed).toBeLessThan(125_000);
	});

	it.each<[string, Look, string]>([
		[
			'a host name that does not exist',
			failing(() => networkError('ENOTFOUND')),
			'connection_failed',
		],
		['TLS', failing(() => networkError('CERT_HAS_EXPIRED')), 'connection_failed'],
		['a page', answering({ status: 200, body: '<html>Welcome' }), 'unreadable_answer'],
		['a page that is not there', answering({ status: 404, body: '<html>' }), 'http_404'],
	])('ends at once after %s', async (_, look, code) => {
		const step = new Step({ stopOnError: false });
		duringNext(step, TIMEOUT_MS, look);
		const { outcomes } = await step.run([waitingFor('id-1', 0), waitingFor('id-2', 1)]);
		for (const outcome of outcomes) expect(errorIn(outcome).code).toBe(code);
		expect([step.elapsed, step.fake.seen.length]).toEqual([0, 2]);
	});
});
