import { requireBalance } from '../../../client/api/client';
import { GenerationError } from '../../../client/api/errors';

describe('a minimum balance', () => {
	it.each([
		[100, 100],
		[101, 100],
		[0, 0],
		[5, -1],
	])('lets a balance of %i pass where at least %i is asked for', (balance, minimum) => {
		expect(() => requireBalance({ balance }, minimum)).not.toThrow();
	});

	it('counts a single credit as one', () => {
		expect(() => requireBalance({ balance: 1 }, 2)).toThrow(
			'Only 1 credit left, fewer than the minimum of 2',
		);
	});

	it('stops a step before it spends', () => {
		const check = () => requireBalance({ balance: 99 }, 100);
		expect(check).toThrow(GenerationError);
		expect(check).toThrow(
			expect.objectContaining({
				message: 'Only 99 credits left, fewer than the minimum of 100',
				code: 'balance_below_minimum',
				charge: 'none',
				retry: 'never',
			}),
		);
	});
});
