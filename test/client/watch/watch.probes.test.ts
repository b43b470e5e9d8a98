import { seededRandom } from '../../../sandbox/basics/random';
import { answer } from '../../support/answers';
import { batch, inShort, waitingFor } from '../../support/step';
import { auto, expectScheduled, INTERVAL_MS, LONGEST_PAUSE_MS, soonAfter, stepOf } from './watched';

it('a storage is still probed after a scheduled check came before its probe', async () => {
	const step = stepOf(3999);
	step.settings.maxConcurrent = 1;
	await step.run(batch(2, auto));
	const [first, second] = step.fake.made;
	expect(step.fake.looksAt(first.id)).toHaveLength(1);
	expect(step.fake.probed.map(({ id }) => id)).toContain(second.id);
});

describe('a URL', () => {
	it('that is unknown at first is probed once it is known', async () => {
		const step = stepOf(9500);
		step.fake.order('p0', (make) => {
			make();
			return answer({ id: 'generation-1' });
		});
		await step.run(batch(1, auto));
		expect(step.elapsed).toBeLessThanOrEqual(soonAfter(9500));
	});

	it('with an unknown expiry is probed', async () => {
		const step = stepOf(3000);
		step.fake.order('p0', (make) => {
			const { body } = make();
			return answer({ ...(body as object), created: null });
		});
		await step.run(batch(1, auto));
		expect(step.fake.looksAt('generation-1')).toHaveLength(1);
	});
});

describe('a URL that has expired', () => {
	it('is not probed, and is renewed by a status check', async () => {
		const step = stepOf(500_000);
		const { time, fake } = step;
		fake.url = (id) => `https://storage.example.com/${id}.png?expires=${time.now() / 1000 + 20}`;
		const { outcomes } = await step.run(batch(1, auto));
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		for (const { url, at } of fake.probed) {
			const expiresAt = Number(new URL(url).searchParams.get('expires')) * 1000;
			// It may expire before its probe is sent.
			expect(at - expiresAt).toBeLessThanOrEqual(INTERVAL_MS);
		}
		expect(new Set(fake.probed.map(({ url }) => url)).size).toBeGreaterThan(20);
	});

	it('is renewed at once for an id from the user', async () => {
		const step = stepOf(5000);
		await step.run(batch(1, { wait: false }));
		const { outcomes } = await step.runAgain([waitingFor('generation-1', 0, auto)]);
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		expect(step.fake.looksAt('generation-1')[0].at).toBeLessThan(step.fake.probed[0].at);
		expect(step.elapsed).toBeLessThanOrEqual(soonAfter(5000));
	});
});

describe('no probe is sent', () => {
	it.each([180, 400, 5000, 12_345])('after a Stop at %d ms', async (ms) => {
		const step = stepOf(100_000);
		step.stopAt(ms);
		const { outcomes } = await step.run(batch(8, auto));
		expect(outcomes.map(({ kind }) => kind)).toEqual(Array(8).fill('stopped'));
		const { startedAt } = step.fake.made[0];
		for (const { at } of step.fake.probed) expect(at - startedAt).toBeLessThanOrEqual(ms);
		expect(step.elapsed).toBe(ms);
	});

	it('after a Stop during a status check', async () => {
		const step = stepOf(9900);
		step.fake.latencyMs = 500;
		step.stopAt(10_700);
		await step.run(batch(1, auto));
		const { startedAt } = step.fake.made[0];
		expect(step.fake.looksAt('generation-1')[0].at).toBeLessThan(startedAt + 10_700);
		for (const { at } of step.fake.probed) expect(at - startedAt).toBeLessThanOrEqual(10_700);
	});

	it.each(['auto', 'outputUrl'] as const)('after the timeout: %s', async (readiness) => {
		const step = stepOf(100_000);
		await step.run(batch(1, { readiness, timeoutMs: 7000, onTimeout: 'continue' }));
		const { startedAt } = step.fake.made[0];
		expect(step.fake.probed.length).toBeGreaterThan(0);
		for (const { at } of step.fake.probed) expect(at - startedAt).toBeLessThan(7000);
		expect(step.elapsed).toBe(7000);
	});
});

it.each([
	[10, 25],
	[200, 32],
])(
	'a step of %d generations sends at most %d probes a second, and detects the ends no later than polling',
	async (count, most) => {
		const step = stepOf(0);
		step.settings.maxConcurrent = count;
		const random = seededRandom(7);
		const durations = Array.from({ length: count }, () => 2000 + 40_000 * random());
		step.fake.durationMs = (prompt) => durations[Number(prompt.slice(1))];
		const ends = new Map<string, number>();
		step.finish = async (_, generation) => {
			ends.set(generation.item.id, step.time.now());
			return { generation, output: '' };
		};
		await step.run(batch(count, auto));
		const times = step.fake.probed.map(({ at }) => at);
		times.forEach((at, index) => {
			if (index >= most) expect(at - times[index - most]).toBeGreaterThanOrEqual(1000);
		});
		const queued = 1000;
		const late = step.fake.made.map(({ id, endsAt }) => (ends.get(id) ?? Infinity) - endsAt);
		expect(Math.max(...late)).toBeLessThanOrEqual(LONGEST_PAUSE_MS + queued);
		// On average, polling detects an end half an interval late.
		const mean = late.reduce((sum, ms) => sum + ms) / late.length;
		expect(mean).toBeLessThanOrEqual(INTERVAL_MS / 2);
		expectScheduled(step.fake);
	},
);

it('a service that stops answering ends the wait at its timeout, with a short poll interval too', async () => {
	const step = stepOf(100_000);
	step.settings.pollIntervalMs = 1000;
	// Real timers fire a little late.
	const { time } = step;
	const sleep: typeof time.sleep = async (ms, signal) => await time.sleep(ms + 2, signal);
	step.clock = { now: () => time.now(), sleep };
	const { send } = step.fake;
	(step.fake as { send: typeof send }).send = async (request) =>
		request.method === 'GET' ? await new Promise<never>(() => undefined) : await send(request);
	await step.run(batch(1, { ...auto, timeoutMs: 5000, onTimeout: 'continue' }));
	expect(step.elapsed).toBeLessThan(8000);
});
