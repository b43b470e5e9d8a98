import { GenerationError } from './errors';

/** A balance or a summary (spec 2.3, 2.4), returned unchanged. Both contain the remaining credits. */
export interface Credits {
	balance: number;
	[key: string]: unknown;
}

/**
 * Checks the balance before credits are spent.
 *
 * @throws GenerationError if fewer credits than `minimum` are left
 */
export function requireBalance({ balance }: Credits, minimum: number): void {
	if (balance >= minimum) return;
	const left = balance === 1 ? '1 credit is' : `${balance} credits are`;
	throw new GenerationError({
		title: `Only ${left} left, fewer than the minimum of ${minimum}`,
		description: 'Nothing was spent. Top up the account, or lower the Minimum Balance option.',
		code: 'balance_below_minimum',
	});
}
