import { networkError } from '../../support/answers';
import { Desk } from '../../support/desk';
import { answerLost, refused } from '../../support/fake-service';

const resubmit = { onUncertainCharge: 'resubmit' } as const;

describe('a request whose response was lost', () => {
	it('is an error, stays unresolved, and is not sent again', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		expect(await desk.refusalOf('cat')).toMatchObject({
			code: 'uncertain_charge',
			charge: 'unknown',
		});
		expect(await desk.entry('cat')).toEqual({ state: 'sent', count: 1 });
		expect(desk.fake.creating).toHaveLength(1);
	});

	it('is not sent by a later attempt either, which sends no other request', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		await desk.refusalOf('cat');
		const again = await desk.refusalOf('cat');
		expect(again).toMatchObject({ code: 'uncertain_charge', charge: 'unknown' });
		expect(again.description).toContain('earlier attempt');
		expect(desk.fake.seen).toHaveLength(1);
	});

	it.each([
		['a 5xx from a proxy', () => ({ status: 504, body: '' })],
		['an unreadable response', () => ({ status: 200, body: '<html>' })],
		[
			'a timeout',
			() => {
				throw networkError('ECONNABORTED');
			},
		],
	])('is reported for %s', async (_, script) => {
		const desk = new Desk();
		desk.fake.order('cat', script);
		expect((await desk.refusalOf('cat')).code).toBe('uncertain_charge');
		expect(await desk.entry('cat')).toEqual({ state: 'sent', count: 1 });
	});

	it('is sent again after a pause if the user accepts the risk', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		const generation = await desk.obtain('cat', resubmit);
		const [first, second] = desk.fake.creating;
		expect(second.at - first.at).toBe(1000);
		expect(await desk.entry('cat')).toMatchObject({ state: 'made', id: generation.item.id });
	});

	it('is sent again by a later attempt if the user accepts the risk by then', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		await desk.refusalOf('cat');
		expect((await desk.obtain('cat', resubmit)).item.id).toBe('generation-2');
	});

	it('has the same idempotency header in every attempt, so that the service can ignore the second', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost, answerLost);
		await desk.refusalOf('cat');
		await desk.obtain('cat', resubmit);
		const names = desk.fake.creating.map(({ headers }) => headers?.['Idempotency-Key']);
		expect(names).toEqual([names[0], names[0], names[0]]);
		expect(names[0]).toMatch(/^[0-9a-f]{32}$/);
	});

	it('is sent at most three more times', async () => {
		const desk = new Desk();
		desk.fake.order('cat', ...Array.from({ length: 9 }, () => answerLost));
		expect((await desk.refusalOf('cat', resubmit)).code).toBe('uncertain_charge');
		expect(desk.fake.creating).toHaveLength(4);
		expect(await desk.entry('cat')).toEqual({ state: 'sent', count: 4 });
	});

	it('stays uncertain if it is rejected when sent again', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost, refused(402, 'insufficient_credits'));
		const error = await desk.refusalOf('cat', resubmit);
		expect(error).toMatchObject({ code: 'uncertain_charge', charge: 'unknown', status: 402 });
		expect(error.description).toContain('Not enough credits');
		expect(await desk.entry('cat')).toEqual({ state: 'sent', count: 1 });
	});

	it('stays uncertain if the step ends before it is sent again', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		desk.time.at(desk.time.now() + 500, () => desk.halt.abort());
		const error = await desk.refusalOf('cat', resubmit);
		expect(error.charge).toBe('unknown');
		expect(error.description).toContain('The connection closed');
		expect(desk.fake.creating).toHaveLength(1);
		expect(await desk.entry('cat')).toEqual({ state: 'sent', count: 1 });
	});

	it('stays uncertain if another item ends all submissions in the meantime', async () => {
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
