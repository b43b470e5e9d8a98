import type { Job } from '../../../client/jobs/job';
import { answer, noSlot, refusal, wireGeneration } from '../../support/answers';
import { refused } from '../../support/fake-service';
import { batch, creating, errorIn, inShort, Step, waitingFor } from '../../support/step';

describe('a generation that fails', () => {
	it('is an error with its reason and a refund, and the other items continue', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.failure = (prompt) => (prompt === 'p1' ? 'out of paint' : undefined);
		const { outcomes, firstFailed } = await step.run(batch(3));
		expect(outcomes.map(inShort)).toEqual([
			'completed generation-1',
			'generation_failed generation-2',
			'completed generation-3',
		]);
		expect(errorIn(outcomes[1])).toMatchObject({
			message: 'The generation failed: out of paint',
			charge: 'refunded',
			generation: { status: 'failed' },
		});
		expect(firstFailed?.itemIndex).toBe(1);
	});
});

describe('a rejection that every request would get', () => {
	it('is passed at once to the items that wait for a slot', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.slots = 0;
		step.fake.order('p0', () => noSlot(10, 10), refused(402, 'insufficient_credits'));
		const { outcomes } = await step.run(batch(20));
		expect(errorIn(outcomes[0]).code).toBe('insufficient_credits');
		for (const outcome of outcomes.slice(1)) {
			expect(errorIn(outcome).message).toMatch(/^Skipped because item 1 failed/);
		}
		expect(step.elapsed).toBeLessThan(10_000);
	});
});

describe('a response about another generation', () => {
	it('is ignored: each item keeps its own', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.durationMs = (prompt) => (prompt === 'p0' ? 1000 : 20_000);
		step.fake.orderLooks(
			() => undefined,
			() => answer(wireGeneration({ id: 'generation-1', status: 'completed' })),
		);
		const { outcomes, stats } = await step.run(batch(2));
		expect(outcomes.map(inShort)).toEqual(['completed generation-1', 'completed generation-2']);
		expect(step.orders.map(({ id }) => id)).toEqual(['generation-1', 'generation-2']);
		expect(stats.retries).toBe(1);
	});
});

describe('the first error of a step that stops', () => {
	it('ends it: nothing more is sent, and generations in flight are named', async () => {
		const step = new Step({ maxConcurrent: 3 });
		step.fake.failure = (prompt) => (prompt === 'p1' ? 'out of paint' : undefined);
		step.fake.durationMs = (prompt) => (prompt === 'p1' ? 5000 : 60_000);
		const { outcomes, firstFailed } = await step.run(batch(6));
		expect(outcomes.map(inShort)).toEqual([
			'stopped generation-1',
			'generation_failed generation-2',
			'stopped generation-3',
			'stopped',
			'stopped',
			'stopped',
		]);
		expect(firstFailed?.itemIndex).toBe(1);
		expect([step.elapsed, step.fake.creating.length]).toEqual([6000, 3]);
	});

	it('lets requests in flight receive their ids', async () => {
		const step = new Step({ maxConcurrent: 3 });
		step.fake.latencyMs = 500;
		step.fake.order('p0', refused(422, 'unsupported_parameter'));
		const jobs = [
			creating('p0', 0),
			{
				...creating('p1', 1),
				request: async () => {
					await step.time.sleep(300);
					return { type: 'image' as const, body: { prompt: 'p1' } };
				},
			},
		];
		const { outcomes } = await step.run(jobs);
		expect(outcomes.map(inShort)).toEqual(['unsupported_parameter', 'stopped generation-1']);
		expect(step.elapsed).toBe(800);
	});

	it('keeps the ids of items that were not checked', async () => {
		const step = new Step({ maxConcurrent: 1 });
		const { outcomes } = await step.run([waitingFor('missing', 0), waitingFor('next', 1)]);
		expect(outcomes.map(inShort)).toEqual(['generation_not_found', 'stopped next']);
		expect(step.fake.seen).toHaveLength(1);
	});
});

describe('an error that every further request would get', () => {
	it('is in the error of each skipped item, whose files are not read; requests in flight finish', async () => {
		const step = new Step({ maxConcurrent: 2, stopOnError: false });
		step.fake.durationMs = (prompt) => (prompt === 'p0' ? 5000 : 60_000);
		step.fake.order('p2', refused(402, 'insufficient_credits'));
		let built = 0;
		const jobs = batch(6).map((job): Job => {
			const request = async () => {
				built++;
				return await job.request();
			};
			return { ...job, request };
		});
		const { outcomes, firstFailed } = await step.run(jobs);
		expect(outcomes.map(inShort)).toEqual([
			'completed generation-1',
			'completed generation-2',
			...Array.from({ length: 4 }, () => 'insufficient_credits'),
		]);
		expect(errorIn(outcomes[2]).message).toMatch(/^Not enough credits: /);
		expect(errorIn(outcomes[5]).message).toMatch(
			/^Skipped because item 3 failed: Not enough credits: /,
		);
		expect(firstFailed?.itemIndex).toBe(2);
		expect([step.fake.creating.length, built]).toEqual([3, 3]);
	});
});

describe('an error includes what is known of the generation', () => {
	it('created by this step, and impossible to check', async () => {
		const step = new Step();
		step.fake.orderLooks(() => refusal(401, 'expired_api_key'));
		const { outcomes } = await step.run(batch(1));
		expect(errorIn(outcomes[0])).toMatchObject({
			code: 'expired_api_key',
			charge: 'paid',
			generation: { id: 'generation-1', status: 'pending' },
		});
	});

	it('unless no generation has this ID', async () => {
		const step = new Step();
		const { outcomes } = await step.run([waitingFor('nothing')]);
		expect(errorIn(outcomes[0])).toMatchObject({
			message: '“nothing” is not a generation ID',
			code: 'generation_not_found',
			generation: null,
		});
	});
});
