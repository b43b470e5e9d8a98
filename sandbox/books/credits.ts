import type { Account } from '../accounts/accounts';
import type { Generation } from '../generations/generations';

const day = 24 * 60 * 60 * 1000;

/** Returns the credit balance of an account (spec 2.3). */
export function creditBalance(account: Account): Record<string, unknown> {
	return {
		object: 'credit_balance',
		balance: account.balance,
		subscription_active: account.plan !== null,
		lifetime_purchased: account.lifetimePurchased,
		lifetime_used: account.lifetimeUsed,
	};
}

/** Returns the credit summary of the last 30 days (spec 2.4). Refunded credits do not count as used. */
export function creditSummary(
	account: Account,
	generations: readonly Generation[],
	now: number,
): Record<string, unknown> {
	const start = now - 30 * day;
	const byType = { image: 0, video: 0 };
	const byModel = new Map<string, number>();
	for (const generation of generations) {
		if (generation.caller.account !== account || generation.createdAt < start) continue;
		const used = generation.charged - generation.refunded;
		if (used === 0) continue;
		byType[generation.model.type] += used;
		byModel.set(generation.model.id, (byModel.get(generation.model.id) ?? 0) + used);
	}
	return {
		object: 'credit_summary',
		balance: account.balance,
		period_start: new Date(start).toISOString(),
		period_end: new Date(now).toISOString(),
		period_used: byType.image + byType.video,
		by_media_type: byType,
		by_model: [...byModel].map(([model, used]) => ({ model, credits_used: used })),
	};
}

/** Returns the credits that a connected app has used in the last 24 hours (spec 8). */
export function usedInDay(
	callerName: string,
	generations: readonly Generation[],
	now: number,
): number {
	return generations
		.filter(({ caller, createdAt }) => caller.name === callerName && createdAt > now - day)
		.reduce((sum, { charged, refunded }) => sum + charged - refunded, 0);
}
