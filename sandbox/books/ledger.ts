import type { Account } from '../accounts/accounts';
import type { Generation } from '../generations/generations';

/** Stores what happens outside of the process. */
export interface Keeper {
	write(generation: Generation): void;
	undo(id: string): void;
	clear(): void;
}

/** Stores the generations, and charges and refunds them. */
export class Ledger {
	/** In order of creation. */
	readonly all: Generation[] = [];
	private readonly byId = new Map<string, Generation>();
	private readonly running = new Set<Generation>();

	constructor(private readonly keeper: Keeper | null = null) {}

	/** Adds a generation and charges for it (spec 1.4). */
	open(generation: Generation): void {
		// First, because a generation that cannot be stored is rejected, and must not be charged.
		this.keeper?.write(generation);
		this.restore(generation);
	}

	/** Call this when the end of a generation has changed. Ignores one that has been removed. */
	changed(generation: Generation): void {
		if (this.byId.get(generation.id) === generation) this.keeper?.write(generation);
	}

	/** Adds a generation that is stored already. */
	restore(generation: Generation): void {
		this.all.push(generation);
		this.byId.set(generation.id, generation);
		this.running.add(generation);
		const { account } = generation.caller;
		account.balance -= generation.charged;
		account.lifetimeUsed += generation.charged;
	}

	/** Removes a generation as if it had never been created, and returns its credits. */
	undo(id: string | null): void {
		const generation = this.all.find((one) => one.id === id);
		if (!generation) return;
		this.keeper?.undo(generation.id);
		if (generation.refunded === 0) this.refund(generation);
		this.all.splice(this.all.indexOf(generation), 1);
		this.byId.delete(generation.id);
		this.running.delete(generation);
	}

	/** Advances to `now`: generations that have ended stop running, and failed ones are refunded. */
	settle(now: number): void {
		for (const generation of this.running) {
			if (now < generation.finishAt) continue;
			this.running.delete(generation);
			if (generation.failure && generation.end === null) this.refund(generation);
		}
	}

	private refund(generation: Generation): void {
		const { account } = generation.caller;
		generation.refunded = generation.charged;
		account.balance += generation.charged;
		account.lifetimeUsed -= generation.charged;
	}

	/** Returns the number of an account's generations in progress, including those started elsewhere (spec 8.1). */
	runningOf(account: Account): number {
		let count = account.occupied;
		for (const generation of this.running) if (generation.caller.account === account) count++;
		return count;
	}

	/** Returns the generation with that id, or undefined. */
	find(id: string): Generation | undefined {
		return this.byId.get(id);
	}

	/** Removes all generations without a refund. */
	clear(): void {
		this.all.length = 0;
		this.byId.clear();
		this.running.clear();
		this.keeper?.clear();
	}
}
