import { balanceBelow } from '../../../client/api/client';

describe('a balance below the minimum', () => {
	it('counts a single credit as one', () => {
		expect(balanceBelow(1, 2, 'Minimum Balance').message).toBe(
			'Only 1 credit left, fewer than the minimum of 2',
		);
	});

	it('stops a step before it spends, and names the option', () => {
		expect(balanceBelow(99, 100, 'Stop Below Balance')).toMatchObject({
			message: 'Only 99 credits left, fewer than the minimum of 100',
			description: 'Top up the account, or lower the Stop Below Balance option.',
			code: 'balance_below_minimum',
			charge: 'none',
			retry: 'never',
		});
	});
});
