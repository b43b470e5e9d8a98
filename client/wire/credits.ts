import { GenerationError } from './errors';

/**
 * A guard before spending.
 *
 * @param credits a balance or summary (spec 2.3, 2.4): both state the `balance`
 * @throws GenerationError when fewer credits than `minimum` are left, or the balance is not stated
 */
export function requireBalance(credits: Record<string, unknown>, minimum: number): void {
	const { balance } = credits;
	if (typeof balance === 'number' && balance >= minimum) return;
	throw new GenerationError({
		title: `Only ${String(balance ?? 'an unknown number of')} credits are left, fewer than the minimum of ${minimum}`,
		description: 'Nothing was spent. Top up the account, or lower the Minimum Balance option.',
		code: 'balance_below_minimum',
	});
}
