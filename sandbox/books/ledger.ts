import type { Account } from '../accounts/accounts';
import type { Generation } from '../generations/generations';

/** Stores the generations, and charges and refunds them. */
export class Ledger {
	/** In order of creation. */
	readonly all: Generation[] = [];
	private readonly byId = new Map<string, Generation>();
	private readonly running = new Set<Generation>();

	/** Adds a generation and charges for it (spec 1.4). */
	open(generation: Generation): void {
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
	}
}
