import { refusal } from '../../support/answers';
import { batch, creating, errorIn, inShort, requesting, Step } from '../../support/step';

interface Asked {
	item?: number;
	prompt?: string;
	seed?: number;
	/** The request before evaluation. */
	recipe?: string;
	key?: string;
	/** The idempotency key before evaluation. */
	expression?: string;
}

function asking({ item = 3, prompt = 'a cat', seed, recipe = '', key, expression = '' }: Asked) {
	const body = { model: 'aurora-image-1', prompt, ...(seed !== undefined && { seed }) };
	return creating(prompt, item, {
		...requesting({ type: 'image', body }),
		recipe: () => ({ request: recipe, idempotencyKey: expression }),
		idempotencyKey: key ?? null,
	});
}

describe('an item of a later attempt', () => {
	async function madeFor(first: Asked, second: Asked): Promise<number> {
		const step = new Step();
		await step.run([asking(first)]);
		await step.runAgain([asking(second)]);
		return step.fake.made.length;
	}

	it.each<[what: string, first: Asked, second: Asked]>([
		['the same request', {}, {}],
		['the same parameters, which evaluate differently', { recipe: 'r' }, { recipe: 'r', seed: 7 }],
		['other parameters, which evaluate to the same request', { recipe: 'r' }, { recipe: 'other' }],
		['an idempotency key that was added', {}, { key: 'a', expression: 'a' }],
		['an idempotency key that was removed', { key: 'a', expression: 'a' }, {}],
		[
			'another value of the same key expression',
			{ key: 'a', expression: '=k' },
			{ key: 'b', expression: '=k' },
		],
		[
			'another expression with the same key',
			{ key: 'a', expression: '=k' },
			{ key: 'a', expression: '=m' },
		],
	])('reuses the generation for %s', async (_, first, second) => {
		expect(await madeFor(first, second)).toBe(1);
	});

	it.each<[what: string, first: Asked, second: Asked]>([
		['another item', {}, { item: 4 }],
		['a changed prompt', {}, { prompt: 'a dog' }],
		['a changed request and changed parameters', { recipe: 'r' }, { recipe: 'other', seed: 7 }],
		[
			'a changed key and key expression',
			{ key: 'a', expression: '=k' },
			{ key: 'b', expression: '=m' },
		],
	])('gets a new generation for %s', async (_, first, second) => {
		expect(await madeFor(first, second)).toBe(2);
	});

	it('finds neither the prompt nor the key in what is stored with the execution', async () => {
		const step = new Step();
		await step.run([asking({ recipe: 'a cat', key: 'a cat', expression: 'a cat' })]);
		expect(step.orders).toMatchObject([{ id: 'generation-1', status: 'completed' }]);
		expect(JSON.stringify(step.kept)).not.toContain('cat');
	});

	it('reads no file for a generation that exists, so one that is gone does not fail it', async () => {
		const step = new Step();
		await step.run(batch(2, { wait: false }));
		const unreadable = async () => await Promise.reject(new Error('No such file'));
		const { outcomes } = await step.runAgain(batch(2, { request: unreadable }));
		expect(outcomes.map(inShort)).toEqual([1, 2].map((n) => `completed generation-${n}`));
	});
});

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

	it('creates again what has failed since, if it does not wait', async () => {
		const step = new Step();
		step.fake.failure = () => (step.fake.made.length < 1 ? 'out of paint' : undefined);
		await step.run(batch(1, { wait: false }));
		await step.time.run(step.time.sleep(20_000));
		const { outcomes, stats } = await step.runAgain(batch(1, { wait: false }));
		expect(outcomes.map(inShort)).toEqual(['pending generation-2']);
		expect(stats).toMatchObject({ made: 1, reused: 0 });
	});

	it('never creates a generation again because its status cannot be checked', async () => {
		const step = new Step();
		await step.run(batch(1, { wait: false }));
		step.fake.orderLooks(() => refusal(403, 'forbidden'));
		const { outcomes } = await step.runAgain(batch(1));
		expect(errorIn(outcomes[0])).toMatchObject({
			code: 'forbidden',
			charge: 'paid',
			generation: { id: 'generation-1' },
		});
		expect(step.orders).toMatchObject([{ id: 'generation-1', status: 'pending' }]);
		expect(step.fake.creating).toHaveLength(1);
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
		step.fake.orderLooks(() => refusal(401, 'expired_api_key'));
		const { outcomes } = await step.runAgain(batch(3));
		expect(errorIn(outcomes[0])).toMatchObject({ charge: 'paid' });
		expect(outcomes.slice(1).map(inShort)).toEqual([
			'stopped generation-2',
			'stopped generation-3',
		]);
	});
});
