import type { Caller } from '../accounts/accounts';
import { ServiceError } from '../basics/errors';
import { usedInDay } from '../books/credits';
import type { Ledger } from '../books/ledger';

/**
 * Throws the first limit that a generation of that price would exceed (spec 8). The messages state the numbers (spec 7,
 * 8.1, 8.2).
 */
export function assertLimits(
	ledger: Ledger,
	{ name, account, connection }: Caller,
	needed: number,
	now: number,
): void {
	const { balance, concurrency } = account;
	if (balance < needed) {
		const isForm403 = balance === 0 && account.emptyForm === 403;
		throw new ServiceError(
			isForm403 ? 'insufficient_credits_403' : 'insufficient_credits',
			`Insufficient credits: ${balance} remaining, ${needed} required.`,
		);
	}
	const used = connection ? usedInDay(name, ledger.all, now) : 0;
	if (connection && used + needed > connection.dailyLimit) {
		throw new ServiceError(
			'CONNECTION_LIMIT_REACHED',
			`Daily credit limit reached: ${used} of ${connection.dailyLimit} credits used in the last 24 hours, ` +
				`this generation needs ${needed}.`,
		);
	}
	const running = ledger.runningOf(account);
	if (running < concurrency) return;
	throw new ServiceError(
		'CONCURRENCY_LIMIT_REACHED',
		`${running} generations are running and your plan allows ${concurrency} at a time. Wait for one to finish.`,
	);
}
