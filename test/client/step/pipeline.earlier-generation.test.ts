import { refusal } from '../../support/answers';
import { batch, creating, errorIn, inShort, Step } from '../../support/step';

/** Returns the stored orders of a step. */
const storedIn = (step: Step) => step.orders.map(({ id, status }) => ({ id, status }));

/** Runs a step that creates one generation, and returns its stored orders for a later attempt. */
async function afterFirst(settings = {}) {
	const step = new Step(settings);
	await step.run(batch(1, { wait: false }));
	return { step, entries: () => storedIn(step) };
}

describe('a generation from an earlier attempt', () => {
	it.each([
		['processing', 1000],
		['completed', 20_000],
	])('is reused: it was %s', async (status, age) => {
		const { step, entries } = await afterFirst();
		await step.time.run(step.time.sleep(age));
		const { outcomes, stats } = await step.runAgain(batch(1, { wait: false }));
		expect(outcomes.map(inShort)).toEqual([`${status} generation-1`]);
		expect(step.fake.creating).toHaveLength(1);
		expect(step.fake.looksAt('generation-1')).toHaveLength(1);
		expect(entries()).toEqual([{ id: 'generation-1', status }]);
		expect(stats).toMatchObject({ made: 0, reused: 1 });
	});

	it('that has failed since is created again', async () => {
		const step = new Step();
		step.fake.failure = () => (step.fake.made.length < 1 ? 'out of paint' : undefined);
		await step.run(batch(1, { wait: false }));
		await step.time.run(step.time.sleep(20_000));
		const { outcomes, stats } = await step.runAgain(batch(1, { wait: false }));
		expect(outcomes.map(inShort)).toEqual(['pending generation-2']);
		expect(storedIn(step)).toContainEqual({ id: 'generation-2', status: 'pending' });
		expect(stats).toMatchObject({ made: 1, reused: 0 });
	});

	it('that is known to have failed is created again without a status check', async () => {
		const { step } = await afterFirst();
		for (const [order] of Object.values(step.kept[0])) order.status = 'failed';
		const { outcomes } = await step.runAgain(batch(1, { wait: false }));
		expect(outcomes.map(inShort)).toEqual(['pending generation-2']);
		expect(step.fake.looksAt('generation-1')).toEqual([]);
	});

	it('is not used for a changed request, which creates a new one', async () => {
		const { step } = await afterFirst();
		const { stats } = await step.runAgain([creating('dog', 0, { wait: false })]);
		expect(stats).toMatchObject({ made: 1, reused: 0 });
	});

	it('is never created again because its status cannot be checked', async () => {
		const { step, entries } = await afterFirst();
		step.fake.orderLooks(() => refusal(403, 'forbidden'));
		const { outcomes } = await step.runAgain(batch(1));
		expect(errorIn(outcomes[0])).toMatchObject({
			code: 'forbidden',
			charge: 'paid',
			generation: { id: 'generation-1' },
		});
		expect(entries()).toEqual([{ id: 'generation-1', status: 'pending' }]);
		expect(step.fake.creating).toHaveLength(1);
	});

	it('is reused even if no more requests may be sent', async () => {
		const { step } = await afterFirst({ stopOnError: false, maxConcurrent: 1 });
		step.fake.order('p1', () => refusal(402, 'insufficient_credits'));
		const [first, second] = batch(2);
		const { outcomes } = await step.runAgain([{ ...second }, { ...first }].reverse());
		expect(outcomes.map(inShort)).toEqual(['completed generation-1', 'insufficient_credits']);
	});
});
