import type { Caller } from '../accounts/accounts';
import type { ErrorName } from '../basics/errors';
import { ServiceError } from '../basics/errors';
import { usedInDay } from '../books/credits';
import type { Ledger } from '../books/ledger';

/** What a request would need, and what its caller has. The messages state these numbers (spec 7, 8.1, 8.2). */
export interface Standing {
	/** Price of the generation. */
	readonly needed: number;
	readonly balance: number;
	readonly running: number;
	readonly concurrency: number;
	readonly usedInDay: number;
	readonly dailyLimit: number;
}

/** Returns the numbers for a request. Without a known caller, they are those of an empty account. */
export function standingOf(
	ledger: Ledger,
	caller: Caller | undefined,
	needed: number,
	now: number,
): Standing {
	const { account, connection } = caller ?? {};
	return {
		needed,
		balance: account?.balance ?? 0,
		running: account ? ledger.runningOf(account) : 0,
		concurrency: account?.concurrency ?? 10,
		usedInDay: caller?.connection ? usedInDay(caller.name, ledger.all, now) : 0,
		dailyLimit: connection?.dailyLimit ?? 500,
	};
}

const outOfCredits = ({ balance, needed }: Standing): string =>
	`Insufficient credits: ${balance} remaining, ${needed} required.`;

const messages: Partial<Record<ErrorName, (standing: Standing) => string>> = {
	insufficient_credits: outOfCredits,
	insufficient_credits_403: outOfCredits,
	CONCURRENCY_LIMIT_REACHED: ({ running, concurrency }) =>
		`${running} generations are running and your plan allows ${concurrency} at a time. ` +
		'Wait for one to finish.',
	CONNECTION_LIMIT_REACHED: ({ usedInDay: used, dailyLimit, needed }) =>
		`Daily credit limit reached: ${used} of ${dailyLimit} credits used in the last 24 hours, ` +
		`this generation needs ${needed}.`,
};

/** Returns an error with the numbers that its message has to state, or with its usual message if there are none. */
export function limitError(code: ErrorName, standing: Standing): ServiceError {
	return new ServiceError(code, messages[code]?.(standing));
}

/**
 * Returns an error that was ordered. Its numbers are the real ones where they explain it, and otherwise the nearest
 * that do.
 */
export function orderedError(code: ErrorName, standing: Standing): ServiceError {
	const { needed, balance, running, concurrency, dailyLimit } = standing;
	const none = code === 'insufficient_credits_403';
	return limitError(code, {
		...standing,
		balance: none ? 0 : Math.max(0, Math.min(balance, needed - 1)),
		running: Math.max(running, concurrency),
		usedInDay: Math.max(standing.usedInDay, dailyLimit - needed + 1),
	});
}
