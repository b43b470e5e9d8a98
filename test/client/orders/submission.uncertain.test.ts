import { networkError } from '../../support/answers';
import { Desk } from '../../support/desk';
import { answerLost, refused } from '../../support/fake-service';

const resubmit = { onUncertainCharge: 'resubmit' } as const;

describe('a request whose answer was lost', () => {
	it('is an error, stays open, and is not sent again', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		expect(await desk.refusalOf('cat')).toMatchObject({
			code: 'uncertain_charge',
			charge: 'unknown',
		});
		expect(await desk.entry('cat')).toEqual({ state: 'sent', count: 1 });
		expect(desk.fake.creating).toHaveLength(1);
	});

	it('is not sent by a later try either, nor is anything asked', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		await desk.refusalOf('cat');
		const again = await desk.refusalOf('cat');
		expect(again).toMatchObject({ code: 'uncertain_charge', charge: 'unknown' });
		expect(again.description).toContain('earlier attempt');
		expect(desk.fake.seen).toHaveLength(1);
	});

	it.each([
		['a 5xx of something on the way', () => ({ status: 504, body: '' })],
		['an answer that cannot be read', () => ({ status: 200, body: '<html>' })],
		[
			'a timeout',
			() => {
				throw networkError('ECONNABORTED');
			},
		],
	])('is one with %s', async (_, script) => {
		const desk = new Desk();
		desk.fake.order('cat', script);
		expect((await desk.refusalOf('cat')).code).toBe('uncertain_charge');
		expect(await desk.entry('cat')).toEqual({ state: 'sent', count: 1 });
	});

	it('is sent again where the user takes the risk, after a pause', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		const generation = await desk.obtain('cat', resubmit);
		const [first, second] = desk.fake.creating;
		expect(second.at - first.at).toBe(1000);
		expect(await desk.entry('cat')).toMatchObject({ state: 'made', id: generation.item.id });
	});

	it('is sent again by a later try where the user takes the risk then', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		await desk.refusalOf('cat');
		expect((await desk.obtain('cat', resubmit)).item.id).toBe('generation-2');
	});

	it('has the same name in every try, so that a service that knows the header drops the second', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost, answerLost);
		await desk.refusalOf('cat');
		await desk.obtain('cat', resubmit);
		const names = desk.fake.creating.map(({ headers }) => headers?.['Idempotency-Key']);
		expect(names).toEqual([names[0], names[0], names[0]]);
		expect(names[0]).toMatch(/^[0-9a-f]{32}$/);
	});

	it('is sent three more times at most', async () => {
		const desk = new Desk();
		desk.fake.order('cat', ...Array.from({ length: 9 }, () => answerLost));
		expect((await desk.refusalOf('cat', resubmit)).code).toBe('uncertain_charge');
		expect(desk.fake.creating).toHaveLength(4);
		expect(await desk.entry('cat')).toEqual({ state: 'sent', count: 4 });
	});

	it('stays uncertain where it is refused when sent again', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost, refused(402, 'insufficient_credits'));
		const error = await desk.refusalOf('cat', resubmit);
		expect(error).toMatchObject({ code: 'uncertain_charge', charge: 'unknown', status: 402 });
		expect(error.description).toContain('Not enough credits');
		expect(await desk.entry('cat')).toEqual({ state: 'sent', count: 1 });
	});

	it('stays uncertain where the step ends before it is sent again', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		desk.time.at(desk.time.now() + 500, () => desk.halt.abort());
		const error = await desk.refusalOf('cat', resubmit);
		expect(error.charge).toBe('unknown');
		expect(error.description).toContain('The connection closed');
		expect(desk.fake.creating).toHaveLength(1);
		expect(await desk.entry('cat')).toEqual({ state: 'sent', count: 1 });
	});

	it('stays uncertain where another item closes the way meanwhile', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		desk.fake.order('dog', refused(401, 'expired_api_key'));
		const both = Promise.allSettled([
			desk.obtaining('cat', resubmit, 0),
			desk.obtaining('dog', resubmit, 1),
		]);
		const [cat, dog] = await desk.time.run(both);
		expect(cat).toMatchObject({ reason: { code: 'uncertain_charge', charge: 'unknown' } });
		expect(dog).toMatchObject({ reason: { code: 'expired_api_key', charge: 'none' } });
		expect(desk.fake.creating).toHaveLength(2);
	});
});
