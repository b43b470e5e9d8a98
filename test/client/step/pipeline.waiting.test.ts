import fc from 'fast-check';

import { seededRandom } from '../../../sandbox/basics/random';
import { refusal } from '../../support/answers';
import { answerLost, hanging, refused, unreachable, type Look } from '../../support/fake-service';
import { batch, creating, errorIn, inShort, Step, waitingFor } from '../../support/step';

describe('waiting', () => {
	it('is not needed for a generation that is returned as it is', async () => {
		const step = new Step({ maxConcurrent: 2 });
		const { outcomes } = await step.run(batch(5, { wait: false }));
		expect(outcomes.map(inShort)).toEqual([1, 2, 3, 4, 5].map((n) => `pending generation-${n}`));
		expect([step.elapsed, step.fake.seen.length]).toEqual([0, 5]);
	});

	it('is not needed, and yet no more creating requests are sent at once than Max Concurrent', async () => {
		const step = new Step({ maxConcurrent: 2 });
		step.fake.latencyMs = 700;
		await step.run(batch(30, { wait: false }));
		const sent = step.fake.creating.map(({ at }) => at);
		sent.slice(2).forEach((at, index) => expect(at - sent[index]).toBeGreaterThanOrEqual(700));
		expect(step.elapsed).toBe(15 * 700);
	});

	it('starts with an immediate status check of given ids', async () => {
		const step = new Step();
		await step.run(batch(3, { wait: false }));
		step.fake.seen.length = 0;
		const ids = ['generation-2', 'generation-1', 'generation-3'];
		const { outcomes } = await step.runAgain(ids.map((id, index) => waitingFor(id, index)));
		expect(outcomes.map(inShort)).toEqual(ids.map((id) => `completed ${id}`));
		expect(step.fake.creating).toEqual([]);
		const atOnce = step.fake.seen.filter(({ at }) => at === step.fake.seen[0].at);
		expect(atOnce).toHaveLength(3);
		expect(outcomes[0]).toMatchObject({ output: 'file of generation-2' });
	});

	it('is not needed for ids that are only checked once, in any status', async () => {
		const step = new Step();
		step.fake.failure = (prompt) => (prompt === 'p1' ? 'out of paint' : undefined);
		await step.run(batch(2, { wait: false }));
		await step.time.run(step.time.sleep(20_000));
		await step.runAgain([creating('p9', 9, { wait: false })]);
		const { outcomes } = await step.runAgain(
			[1, 2, 3].map((n) => waitingFor(`generation-${n}`, n, { wait: false })),
		);
		expect(outcomes.map(inShort)).toEqual([
			'completed generation-1',
			'failed generation-2',
			'processing generation-3',
		]);
	});
});

describe('a timeout', () => {
	it.each<[string, (step: Step) => Look]>([
		['are answered', () => () => undefined],
		['hang', () => hanging],
		['fail', () => () => refusal(503, 'service_unavailable')],
		[
			'are late',
			(step) => async () => {
				await step.time.sleep(45_000);
				return refusal(503, 'service_unavailable');
			},
		],
	])('ends the wait for a generation, and names it, if status checks %s', async (_, lookOf) => {
		const schedule = fc.record({
			timeoutMs: fc.integer({ min: 1, max: 59_000 }),
			onTimeout: fc.constantFrom('error', 'continue'),
			readiness: fc.constantFrom('auto', 'status', 'outputUrl'),
			seed: fc.nat({ max: 1_000_000 }),
			hangs: fc.boolean(),
		});
		await fc.assert(
			fc.asyncProperty(schedule, async ({ seed, hangs, ...settings }) => {
				const step = new Step({ stopOnError: false });
				step.fake.durationMs = () => 1_000_000;
				step.fake.orderLooks(...Array.from({ length: 500 }, () => lookOf(step)));
				step.random = seededRandom(seed);
				if (hangs) step.fake.storage = hanging;
				const { outcomes } = await step.run(batch(3, settings));
				expect(step.elapsed).toBeLessThanOrEqual(settings.timeoutMs);
				for (const [index, outcome] of outcomes.entries()) {
					const id = `generation-${index + 1}`;
					expect(outcome).toMatchObject(
						settings.onTimeout === 'error'
							? { error: { code: 'timeout', charge: 'paid', generation: { id } } }
							: { kind: 'done', generation: { id, timed_out: true } },
					);
				}
			}),
		);
	});

	it.each([
		['is refused for the time being', refused(503, 'service_unavailable'), 'service_unavailable'],
		['does not come through', unreachable, 'connection_failed'],
		['is lost, and sent again as the user wishes', answerLost, 'uncertain_charge'],
	])('ends an item whose creating request %s', async (_, script, code) => {
		await fc.assert(
			fc.asyncProperty(fc.integer({ min: 1, max: 90_000 }), fc.nat(), async (timeoutMs, seed) => {
				const step = new Step();
				step.random = seededRandom(seed);
				step.fake.order('p0', ...Array.from({ length: 20 }, () => script));
				const jobs = batch(1, { timeoutMs, onUncertainCharge: 'resubmit' });
				const { outcomes } = await step.run(jobs);
				expect(errorIn(outcomes[0]).code).toBe(code);
				expect(step.elapsed).toBeLessThanOrEqual(timeoutMs);
			}),
		);
	});

	it('counts for each generation from its own start', async () => {
		const step = new Step({ maxConcurrent: 1 });
		const { outcomes } = await step.run(batch(5, { timeoutMs: 13_000 }));
		expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
	});

	it('counts from the start of the step for ids from the user, however late their turn comes', async () => {
		const step = new Step({ maxConcurrent: 2, stopOnError: false });
		step.fake.durationMs = (prompt) => (prompt === 'p5' ? 10_000 : 1_000_000);
		await step.run(batch(6, { wait: false }));
		const ids = [1, 2, 3, 4, 5, 6].map((n) => `generation-${n}`);
		const jobs = ids.map((id, index) => waitingFor(id, index, { timeoutMs: 20_000 }));
		const { outcomes } = await step.runAgain(jobs);
		expect(outcomes.map(inShort)).toEqual([
			...ids.slice(0, 5).map((id) => `timeout ${id}`),
			'completed generation-6',
		]);
		expect(step.elapsed).toBe(20_000);
	});

	it('counts from before the step if the wait began before it', async () => {
		const step = new Step();
		step.fake.durationMs = () => 100_000;
		await step.run(batch(1, { wait: false }));
		step.sleptSince(step.time.now() - 25_000, 'generation-1');
		const jobs = [waitingFor('generation-1', 0, { timeoutMs: 30_000 })];
		expect((await step.runAgain(jobs)).outcomes.map(inShort)).toEqual(['timeout generation-1']);
		expect(step.elapsed).toBe(5000);
	});

	it('that passed before the step ends after one status check', async () => {
		const step = new Step();
		step.fake.durationMs = () => 1_000_000;
		await step.run(batch(1, { wait: false }));
		step.sleptSince(step.time.now() - 100_000, 'generation-1');
		const before = step.fake.looksAt('generation-1').length;
		const jobs = [waitingFor('generation-1', 0, { timeoutMs: 30_000 })];
		expect((await step.runAgain(jobs)).outcomes.map(inShort)).toEqual(['timeout generation-1']);
		expect(step.fake.looksAt('generation-1')).toHaveLength(before + 1);
	});
});
