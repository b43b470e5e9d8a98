import { items, keyed, openKeyedStage } from './keyed';

const { stage, rows, created, execute } = openKeyedStage();

describe('an item with an idempotency key whose creating request is refused', () => {
	const list = items(['a', 'a boat'], ['b', 'a ship']);
	const oneByOne = { ...keyed, runOptions: { maxConcurrent: 1 } };

	it.each(['authentication_error', 'invalid_api_key', 'expired_api_key', 'forbidden'] as const)(
		'is not charged, and the next execution generates it: %s at the second item',
		async (code) => {
			stage.sandbox.faults.order({ on: 'create', skip: 1, action: { kind: 'error', code } });
			const refused = await execute(list, oneByOne);
			expect(refused.error).toMatchObject({
				context: { itemIndex: 1, code },
				description: expect.stringContaining('1 generation has already been charged'),
			});
			expect(rows().map(({ key, status }) => [key, status])).toEqual([['a', 'completed']]);
			expect((await execute(list, oneByOne)).status).toBe('success');
			expect(created()).toBe(2);
		},
	);
});
