import fc from 'fast-check';

import type { Outcome } from '../../../client/jobs/outcome';
import { refused, unreachable } from '../../support/fake-service';
import { batch, inShort, Step, waitingFor } from '../../support/step';

function idsIn(outcomes: Array<Outcome<unknown>>): Set<string> {
	return new Set(
		outcomes.flatMap((outcome) => {
			const generation = outcome.kind === 'error' ? outcome.error.generation : outcome.generation;
			return generation ? [generation.id] : [];
		}),
	);
}

describe('a stop', () => {
	it('before the start builds and sends nothing, and keeps the ids from the user', async () => {
		const step = new Step();
		step.cancel.abort();
		const request = jest.fn();
		const jobs = [...batch(2, { request }), waitingFor('given', 2)];
		const { outcomes } = await step.run(jobs);
		expect(request).not.toHaveBeenCalled();
		expect(outcomes.map(inShort)).toEqual(['stopped', 'stopped', 'stopped given']);
		expect(step.fake.seen).toEqual([]);
	});

	it('while generations run sends nothing more, and keeps their ids', async () => {
		const step = new Step({ maxConcurrent: 2 });
		step.stopAt(4000);
		const { outcomes, firstFailed } = await step.run(batch(4));
		expect(outcomes.map(inShort)).toEqual([
			'stopped generation-1',
			'stopped generation-2',
			'stopped',
			'stopped',
		]);
		expect([firstFailed, step.elapsed, step.fake.creating.length]).toEqual([null, 4000, 2]);
	});

	it('during a creating request lets it receive its id', async () => {
		const step = new Step();
		step.fake.latencyMs = 1000;
		step.stopAt(400);
		const { outcomes } = await step.run(batch(2));
		expect(outcomes.map(inShort)).toEqual(['stopped generation-1', 'stopped generation-2']);
		expect([step.elapsed, step.fake.seen.length]).toEqual([1000, 2]);
		expect(step.orders.map(({ id }) => id)).toEqual(['generation-1', 'generation-2']);
	});

	it('at any moment sends nothing afterwards, and loses no charged generation', async () => {
		const plans = fc.record({
			items: fc.integer({ min: 1, max: 12 }),
			maxConcurrent: fc.integer({ min: 1, max: 6 }),
			slots: fc.integer({ min: 1, max: 6 }),
			latencyMs: fc.constantFrom(0, 50, 700, 2500),
			stopAt: fc.integer({ min: 0, max: 60_000 }),
			stopOnError: fc.boolean(),
			unreachable: fc.nat(11),
			overloaded: fc.nat(11),
			failing: fc.nat(20),
		});
		await fc.assert(
			fc.asyncProperty(plans, async ({ items, stopAt, latencyMs, slots, ...rest }) => {
				const { maxConcurrent, stopOnError } = rest;
				const step = new Step({ maxConcurrent, stopOnError });
				Object.assign(step.fake, { latencyMs, slots });
				step.fake.durationMs = (prompt) => 1000 * (3 + prompt.length * 7);
				step.fake.failure = (prompt) =>
					prompt === `p${rest.failing}` ? 'out of paint' : undefined;
				step.fake.order(`p${rest.unreachable}`, unreachable, unreachable);
				step.fake.order(`p${rest.overloaded}`, refused(503, 'service_unavailable'));
				step.finish = async (_, generation, signal) => {
					await step.time.sleep(2000, signal);
					return { generation, output: 'file' };
				};
				step.stopAt(stopAt);
				const stoppedAt = step.time.now() + stopAt;
				const { outcomes } = await step.run(batch(items));

				expect(step.fake.seen.filter(({ at }) => at > stoppedAt)).toEqual([]);
				expect(step.time.now()).toBeLessThanOrEqual(stoppedAt + latencyMs);
				expect(outcomes).toHaveLength(items);
				const made = step.fake.made.map(({ id }) => id);
				expect(idsIn(outcomes)).toEqual(new Set(made));

				// Later attempts reuse what was interrupted, and pay again only for refunded generations.
				step.fake.failure = () => undefined;
				step.settings.stopOnError = false;
				await step.runAgain(batch(items));
				const last = await step.runAgain(batch(items));
				expect(last.outcomes.every(({ kind }) => kind === 'done')).toBe(true);
				const refunded = step.fake.made.filter(({ failure }) => failure !== undefined);
				expect(step.fake.made.length - refunded.length).toBe(items);
			}),
		);
	});
});
