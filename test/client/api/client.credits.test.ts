import { balanceBelow } from '../../../client/api/client';

describe('a balance below the minimum', () => {
	it('counts a single credit as one', () => {
		expect(balanceBelow(1, 2, 'Minimum Balance').message).toBe(
			'1 credit left, below your minimum of 2',
		);
	});

	it('stops a step before it spends, and names the option', () => {
		expect(balanceBelow(99, 100, 'Stop Below Balance')).toMatchObject({
			message: '99 credits left, below your minimum of 100',
			description: 'Top up the account, or lower Stop Below Balance.',
			code: 'balance_below_minimum',
			charge: 'none',
			retry: 'never',
		});
	});
});
