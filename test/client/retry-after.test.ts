import type { ServiceResponse } from '../../client/ports';
import { errorFromResponse } from '../../client/api/errors';
import { answer, refusal, retryAfter } from '../support/answers';
import { keyed, runKeyed } from '../support/keyed-step';
import { MemoryTable } from '../support/memory-table';
import { scripted, thrownBy } from '../support/scripted-service';
import { batch, errorIn, inShort, Step, waitingFor } from '../support/step';

const gateway = (status: number): ServiceResponse => ({ status, body: '<h1>Slow down</h1>' });
const shapes: Array<[string, ServiceResponse]> = [
	['a 429 without a code', gateway(429)],
	['a 429 of a full account', refusal(429, 'CONCURRENCY_LIMIT_REACHED')],
	['a 429 with an unknown code', refusal(429, 'rate_limit_exceeded')],
	['a 503 of the service', refusal(503, 'service_unavailable')],
];

/** Creates a step whose service rejects every creating request for this long, and says for how much longer. */
function closedFor(ms: number, rejected: ServiceResponse, asDate = false): Step {
	const step = new Step({ stopOnError: false });
	const opensAt = step.time.now() + ms;
	const { send } = step.fake;
	const reject = step.fake as { send: typeof send };
	step.fake.latencyMs = 100;
	reject.send = async (request) => {
		const left = opensAt - step.time.now();
		if (request.method === 'GET' || left <= 0) return await send(request);
		const { body: { prompt } = {} } = request as { body?: { prompt?: string } };
		step.fake.seen.push({ ...request, at: step.time.now(), prompt });
		await step.time.sleep(100);
		const date = new Date(opensAt).toUTCString();
		return retryAfter(asDate ? date : Math.ceil(left / 1000), rejected);
	};
	return step;
}

describe('Retry-After of a creating request', () => {
	describe.each(shapes)('with %s', (_, rejected) => {
		it.each([
			['in seconds', false],
			['as a date', true],
		])('%s brings thirty items through with one request each after it', async (__, asDate) => {
			const step = closedFor(120_000, rejected, asDate);
			step.fake.slots = 10;
			const { outcomes, stats } = await step.run(batch(30));
			expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
			expect(stats.made).toBe(30);
			const times = step.fake.creating.map(({ at }) => at - step.fake.creating[0].at);
			// The first ones leave together, and nothing before the time that the service named.
			expect(times.filter((at) => at < 119_000)).toHaveLength(10);
			expect(times.length).toBeLessThan(30 + 10 + 10);
		});
	});

	it.each<[string, object]>([
		['in the error', { error: { code: 'rate_limited', retry_after: 30 } }],
		['beside the error', { error: { code: 'rate_limited' }, retry_after: 30 }],
		['alone, as a text', { retry_after: '30' }],
	])('counts in the body too, if there is no header: %s', (_, body) => {
		expect(errorFromResponse({ status: 429, body }, true).retryAfterMs).toBe(30_000);
		const response = retryAfter(7, { status: 429, body });
		expect(errorFromResponse(response, true).retryAfterMs).toBe(7_000);
	});

	it('holds the other items of the step back, too, and those that have a key', async () => {
		const step = new Step({ stopOnError: false, maxConcurrent: 2 });
		step.fake.order('p0', () => retryAfter(60, gateway(429)));
		const table = new MemoryTable(step.time);
		let sentRows = -1;
		step.time.at(step.time.now() + 30_000, () => {
			sentRows = table.rows.filter(({ generation_id: id }) => !id).length;
		});
		const { outcomes } = await runKeyed(step, table, 'one', [
			keyed('p0', 0, 'a'),
			keyed('p1', 1, 'b'),
			keyed('p2', 2, 'c'),
		]);
		expect(outcomes.map(inShort).sort()).toEqual([1, 2, 3].map((n) => `completed generation-${n}`));
		// If the process died now, no charge would be uncertain.
		expect(sentRows).toBe(0);
		const [first] = step.fake.creating;
		const later = step.fake.creating.filter(({ at }) => at - first.at > 1_000);
		expect(later.length).toBeGreaterThanOrEqual(2);
		expect(later.every(({ at }) => at - first.at >= 60_000)).toBe(true);
	});

	it('that is repeated does not use up the retries', async () => {
		const step = new Step();
		step.fake.order('p0', ...Array.from({ length: 15 }, () => () => retryAfter(20, gateway(429))));
		const { outcomes } = await step.run(batch(1));
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		expect(step.fake.creating).toHaveLength(16);
	});

	it.each(['3600', '999999999999', '9'.repeat(400), new Date(Date.now() + 1e12).toUTCString()])(
		'that is longer than Timeout is an error that says so at once, at no charge: %s',
		async (value) => {
			const step = new Step({ stopOnError: false, maxConcurrent: 1 });
			step.fake.order('p0', () => retryAfter(value, gateway(429)));
			const { outcomes } = await step.run(batch(2));
			for (const outcome of outcomes) {
				const error = errorIn(outcome);
				expect(error).toMatchObject({ charge: 'none', status: 429 });
				expect(error.details).toMatch(/asks to wait \d+ s more \(Retry-After\).*Timeout of 600 s/);
			}
			expect(step.fake.creating).toHaveLength(1);
			expect(step.elapsed).toBeLessThan(10_000);
		},
	);

	it('is repeated until Timeout, and the error says so', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.order('p0', ...Array.from({ length: 99 }, () => () => retryAfter(50, gateway(429))));
		const { outcomes } = await step.run(batch(1, { timeoutMs: 120_000 }));
		expect(errorIn(outcomes[0])).toMatchObject({ charge: 'none', status: 429 });
		expect(step.elapsed).toBeLessThan(121_000);
		expect(step.fake.creating.length).toBeLessThan(5);
	});

	it.each(['soon', '-5', '', '0', 'NaN', 'Infinity', '1e3x', 'Thu, 01 Jan 1970 00:00:00 GMT'])(
		'that says nothing changes nothing: "%s"',
		async (value) => {
			const step = new Step();
			step.fake.order('p0', () => retryAfter(value, gateway(429)));
			await step.run(batch(1));
			const [first, second] = step.fake.creating;
			expect(second.at - first.at).toBe(1_000);
		},
	);

	it('counts with a 429 or 503 only, as a date from now', () => {
		const now = Date.parse('Thu, 26 Nov 2026 10:00:00 GMT');
		const headers = { 'retry-after': 'Thu, 26 Nov 2026 10:01:30 GMT' };
		const at = (status: number) =>
			errorFromResponse({ ...gateway(status), headers }, true, null, now);
		expect(at(429).retryAfterMs).toBe(90_000);
		expect(at(503).retryAfterMs).toBe(90_000);
		expect(at(400).retryAfterMs).toBeNull();
		expect(at(429).details).toContain('90 s');
	});
});

describe('Retry-After of a status check', () => {
	it.each(shapes)('holds all status checks of the step back: %s', async (_, rejected) => {
		const step = new Step({ stopOnError: false });
		step.fake.durationMs = () => 5_000;
		step.fake.orderLooks(() => retryAfter(45, rejected));
		const { outcomes } = await step.run(batch(5));
		expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
		const looks = step.fake.seen.filter(({ method }) => method === 'GET');
		const later = looks.filter(({ at }) => at > looks[0].at);
		expect(later).toHaveLength(5);
		expect(later.every(({ at }) => at - looks[0].at >= 45_000)).toBe(true);
	});

	it('is bounded by Timeout', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.orderLooks(() => retryAfter(9_999, gateway(503)));
		const { outcomes } = await step.run(batch(1, { timeoutMs: 60_000 }));
		const error = errorIn(outcomes[0]);
		expect(error).toMatchObject({ code: 'timeout', charge: 'paid' });
		expect(step.elapsed).toBe(60_000);
	});

	it('is kept by a single check', async () => {
		const step = new Step();
		await step.run(batch(1, { wait: false }));
		const before = step.elapsed;
		step.fake.orderLooks(() => retryAfter(30, gateway(429)));
		await step.runAgain([waitingFor('generation-1', 0, { wait: false })]);
		expect(step.elapsed - before).toBe(30_000);
	});
});

describe('Retry-After of the models or the credits', () => {
	it('is kept if it is not longer than the retries would take, and is the error otherwise', async () => {
		const full = answer({ balance: 7 });
		const short = scripted(retryAfter(90, gateway(503)), full);
		expect(await short.time.run(short.service.balance())).toEqual({ balance: 7 });
		expect(short.time.now()).toBe(90_000);
		const long = scripted(retryAfter(500, gateway(503)), full);
		const error = await long.time.run(thrownBy(long.service.balance()));
		expect(error.details).toContain('500 s (Retry-After)');
		expect([long.time.now(), long.seen.length]).toEqual([0, 1]);
	});
});
