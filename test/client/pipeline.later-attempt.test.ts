import { refusal } from '../support/answers';
import { refused } from '../support/fake-service';
import { batch, creating, errorIn, inShort, Step } from '../support/step';

describe('a later attempt', () => {
	it('reuses all charged generations, and is not charged twice', async () => {
		const step = new Step();
		step.stopAt(5000);
		await step.run(batch(4));
		const { outcomes, stats } = await step.runAgain(batch(4));
		expect(outcomes.map(inShort)).toEqual([1, 2, 3, 4].map((n) => `completed generation-${n}`));
		expect([step.fake.made.length, stats.reused]).toEqual([4, 4]);
	});

	it('creates failed generations and changed requests again', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.failure = (prompt) => (prompt === 'p0' ? 'out of paint' : undefined);
		await step.run(batch(3));
		step.fake.failure = () => undefined;
		const { outcomes } = await step.runAgain([...batch(2), creating('changed', 2)]);
		expect(outcomes.map(inShort)).toEqual([
			'completed generation-4',
			'completed generation-2',
			'completed generation-5',
		]);
	});

	it('does not treat a failed generation as charged if it cannot be created again', async () => {
		const step = new Step();
		step.fake.failure = () => 'out of paint';
		await step.run(batch(1, { wait: false }));
		await step.time.run(step.time.sleep(20_000));
		step.fake.order('p0', refused(422, 'unsupported_parameter'));
		const { outcomes } = await step.runAgain(batch(1));
		expect(errorIn(outcomes[0])).toMatchObject({
			code: 'unsupported_parameter',
			charge: 'none',
			generation: null,
		});
	});

	it('whose status check is rejected checks only once', async () => {
		const step = new Step();
		await step.run(batch(1, { wait: false }));
		step.fake.orderLooks(() => refusal(401, 'expired_api_key'));
		const { outcomes, stats } = await step.runAgain(batch(1));
		expect(errorIn(outcomes[0])).toMatchObject({
			code: 'expired_api_key',
			charge: 'paid',
			generation: { id: 'generation-1' },
		});
		expect(stats.reused).toBe(0);
		expect(step.fake.looksAt('generation-1')).toHaveLength(1);
	});

	it('does not send more requests to a full account because of generations that ended long ago', async () => {
		const refusals = async (finished: number) => {
			const step = new Step({ stopOnError: false });
			for (let index = 0; index < 9; index++) {
				step.fake.order(`p${index}`, refused(422, 'unsupported_parameter'));
			}
			await step.run(batch(9 + finished));
			const from = step.time.now();
			const before = step.fake.creating.length;
			step.fake.slots = 10;
			step.fake.others = () => (step.time.now() - from < 60_000 ? 10 : 0);
			await step.runAgain(batch(9 + finished));
			return step.fake.creating.length - before - 9;
		};
		expect(await refusals(300)).toBe(await refusals(0));
	});

	it('waits the whole timeout again for reused generations', async () => {
		const step = new Step();
		step.fake.durationMs = () => 50_000;
		const jobs = batch(1, { timeoutMs: 30_000 });
		expect((await step.run(jobs)).outcomes.map(inShort)).toEqual(['timeout generation-1']);
		const again = await step.runAgain(jobs);
		expect(again.outcomes.map(inShort)).toEqual(['completed generation-1']);
		expect(step.fake.made).toHaveLength(1);
	});

	it('names charged generations, even if it does not reach their items', async () => {
		const step = new Step({ maxConcurrent: 1, stopOnError: false });
		await step.run(batch(3, { wait: false }));
		step.settings.stopOnError = true;
		const unbuilt = async () => await Promise.reject(new TypeError('No such file'));
		const [first, second, third] = batch(3);
		const { outcomes } = await step.runAgain([{ ...first, request: unbuilt }, second, third]);
		expect(errorIn(outcomes[0])).toMatchObject({
			message: 'No such file',
			charge: 'paid',
			generation: { id: 'generation-1' },
		});
		expect(outcomes.slice(1).map(inShort)).toEqual([
			'stopped generation-2',
			'stopped generation-3',
		]);
	});

	it('keeps the statuses that it has received', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.failure = (prompt) => (prompt === 'p0' ? 'out of paint' : undefined);
		await step.run(batch(2));
		expect(step.orders).toMatchObject([
			{ id: 'generation-1', status: 'failed' },
			{ id: 'generation-2', status: 'completed' },
		]);
	});
});
