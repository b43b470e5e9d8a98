import { createHash } from 'node:crypto';

/** The concurrency limit of each plan (spec 8). Enterprise is custom: 50 here. */
const planLimits = {
	trial: 10,
	base: 10,
	pro: 15,
	growth: 20,
	hero: 25,
	enterprise: 50,
} as const;

type Plan = keyof typeof planLimits;

/** The limits of a connected app (spec 2.6). */
export interface Connection {
	/** Credits in any 24 hours. */
	dailyLimit: number;
	paused: boolean;
}

export interface Account {
	readonly name: string;
	plan: Plan | null;
	/** Maximum number of generations at the same time, from keys and apps together (spec 8.1). */
	concurrency: number;
	balance: number;
	lifetimePurchased: number;
	lifetimeUsed: number;
	/** Generations in progress that were started elsewhere (in the app or by the connector). */
	occupied: number;
	/** Status of the error when the account is out of credits. Spec 7 states both forms. */
	emptyForm: 402 | 403;
}

export type KeyState = 'active' | 'revoked' | 'expired' | 'revokedAlternate';

/** The sender of a request: an API key, or an app connected by signing in. */
export interface Caller {
	/** Unique among keys and apps. */
	readonly name: string;
	readonly account: Account;
	/** False if the caller may read but not create. */
	readonly mayCreate: boolean;
	/** Null for an API key: keys have no daily limit and cannot be paused (spec 5.8, 8). */
	readonly connection: Connection | null;
}

export interface ApiKey extends Caller {
	/** The full key: `svc_live_` and 40 hexadecimal characters (spec 5.2). */
	readonly key: string;
	readonly connection: null;
	state: KeyState;
}

/** Properties of a new account. The defaults are the Base plan and 100,000 credits. */
interface AccountOrder {
	name: string;
	plan?: Plan | null;
	concurrency?: number;
	credits?: number;
	emptyForm?: 402 | 403;
}

/** The names of the keys that every sandbox starts with. */
export const keyNames = [
	'main',
	'second',
	'trial',
	'pro',
	'growth',
	'hero',
	'enterprise',
	'noPlan',
	'revoked',
	'expired',
	'revokedAlternate',
	'readOnly',
	'empty',
	'emptyForbidden',
] as const;

export type KeyName = (typeof keyNames)[number];

/** Returns the key of that name. It never changes, so that a saved credential still works after a restart. */
export function keyNamed(name: string): string {
	const digest = createHash('sha1').update(`media-generation-sandbox:${name}`).digest('hex');
	return `svc_live_${digest}`;
}

/** Returns 12 hex characters that identify a key without revealing it. */
export function fingerprintOf(key: string): string {
	return createHash('sha256').update(key).digest('hex').slice(0, 12);
}

const startAccounts: readonly AccountOrder[] = [
	{ name: 'main' },
	{ name: 'trial', plan: 'trial', credits: 1_000 },
	{ name: 'pro', plan: 'pro' },
	{ name: 'growth', plan: 'growth' },
	{ name: 'hero', plan: 'hero' },
	{ name: 'enterprise', plan: 'enterprise', credits: 10_000_000 },
	{ name: 'noPlan', plan: null },
	{ name: 'empty', credits: 0 },
	{ name: 'emptyForbidden', credits: 0, emptyForm: 403 },
];

interface KeyOrder {
	account: string;
	state?: KeyState;
	mayCreate?: boolean;
}

const startKeys: Readonly<Record<KeyName, KeyOrder>> = {
	main: { account: 'main' },
	second: { account: 'main' },
	trial: { account: 'trial' },
	pro: { account: 'pro' },
	growth: { account: 'growth' },
	hero: { account: 'hero' },
	enterprise: { account: 'enterprise' },
	noPlan: { account: 'noPlan' },
	revoked: { account: 'main', state: 'revoked' },
	expired: { account: 'main', state: 'expired' },
	revokedAlternate: { account: 'main', state: 'revokedAlternate' },
	readOnly: { account: 'main', mayCreate: false },
	empty: { account: 'empty' },
	emptyForbidden: { account: 'emptyForbidden' },
};

/** The accounts and their keys. */
export class AccountBook {
	private readonly accounts = new Map<string, Account>();
	private readonly keysByName = new Map<string, ApiKey>();
	private readonly keysByText = new Map<string, ApiKey>();

	constructor() {
		this.reset();
	}

	/** Restores the initial accounts, balances and keys. */
	reset(): void {
		this.accounts.clear();
		this.keysByName.clear();
		this.keysByText.clear();
		for (const order of startAccounts) this.addAccount(order);
		for (const name of keyNames) this.addKey(name, startKeys[name]);
	}

	/** Opens an account. Without a plan it has the lowest limit (spec 8). */
	addAccount(order: AccountOrder): Account {
		const plan = order.plan === undefined ? 'base' : order.plan;
		const credits = order.credits ?? 100_000;
		const account: Account = {
			name: order.name,
			plan,
			concurrency: order.concurrency ?? (plan ? planLimits[plan] : planLimits.trial),
			balance: credits,
			lifetimePurchased: credits,
			lifetimeUsed: 0,
			occupied: 0,
			emptyForm: order.emptyForm ?? 402,
		};
		this.accounts.set(account.name, account);
		return account;
	}

	/** Adds a key to an account. Throws if the account does not exist. */
	addKey(name: string, order: KeyOrder): ApiKey {
		const key: ApiKey = {
			name,
			key: keyNamed(name),
			account: this.account(order.account),
			state: order.state ?? 'active',
			mayCreate: order.mayCreate ?? true,
			connection: null,
		};
		this.keysByName.set(name, key);
		this.keysByText.set(key.key, key);
		return key;
	}

	/** Returns the account of that name, or undefined. */
	find(name: string): Account | undefined {
		return this.accounts.get(name);
	}

	/** Returns the account of that name. Throws if there is none. */
	account(name: string): Account {
		const account = this.find(name);
		if (!account) throw new Error(`The sandbox has no account "${name}".`);
		return account;
	}

	/** Returns the key of that name. Throws if there is none. */
	keyOf(name: string): ApiKey {
		const key = this.keysByName.get(name);
		if (!key) throw new Error(`The sandbox has no API key "${name}".`);
		return key;
	}

	/** Returns the key with that text, or undefined. */
	findKey(text: string): ApiKey | undefined {
		return this.keysByText.get(text);
	}

	/** Sets the balance, as if credits had been bought or removed. */
	setCredits(name: string, credits: number): void {
		const account = this.account(name);
		account.lifetimePurchased += credits - account.balance;
		account.balance = credits;
	}

	/** Returns every account, in the order they were opened. */
	all(): Account[] {
		return [...this.accounts.values()];
	}

	/** Returns every key, in the order they were created. */
	keys(): ApiKey[] {
		return [...this.keysByName.values()];
	}
}
