import { statusAt } from '../generations/generations';
import type { Output, Status } from '../generations/generations';
import { usedInDay } from './credits';
import type { Ledger } from './ledger';

/** A generation as tests judge it; times in milliseconds since 1970, money in credits. */
export interface BookEntry {
	id: string;
	account: string;
	/** The key's name. */
	key: string;
	type: 'image' | 'video';
	model: string;
	prompt: string;
	request: Readonly<Record<string, unknown>>;
	created: number;
	finishes: number;
	state: Status;
	charged: number;
	refunded: number;
}

export interface Totals {
	created: number;
	running: number;
	completed: number;
	failed: number;
	charged: number;
	refunded: number;
}

/** What has really been made and paid: the truth that a client's promises are held against. */
export class Books {
	constructor(
		private readonly ledger: Ledger,
		private readonly now: () => number,
	) {}

	/** Every generation ever created, oldest first, as of now. */
	get generations(): BookEntry[] {
		const now = this.now();
		this.ledger.settle(now);
		return this.ledger.all.map((generation) => ({
			id: generation.id,
			account: generation.caller.account.name,
			key: generation.caller.name,
			type: generation.model.type,
			model: generation.model.id,
			prompt: generation.prompt,
			request: generation.request,
			created: generation.createdAt,
			finishes: generation.finishAt,
			state: statusAt(generation, now),
			charged: generation.charged,
			refunded: generation.refunded,
		}));
	}

	/** Sums over every generation. */
	get totals(): Totals {
		const totals = { created: 0, running: 0, completed: 0, failed: 0, charged: 0, refunded: 0 };
		for (const { state, charged, refunded } of this.generations) {
			totals.created += 1;
			totals.charged += charged;
			totals.refunded += refunded;
			if (state === 'completed' || state === 'failed') totals[state] += 1;
			else totals.running += 1;
		}
		return totals;
	}

	/** How many generations with this very prompt are paid for and not refunded: 2 is a double. */
	liveChargesFor(prompt: string): number {
		return this.generations.filter(
			(entry) => entry.prompt === prompt && entry.charged > entry.refunded,
		).length;
	}

	/** Credits that a connected app has used in the last 24 hours (spec 8). */
	usedInDay(callerName: string): number {
		const now = this.now();
		this.ledger.settle(now);
		return usedInDay(callerName, this.ledger.all, now);
	}

	/** What the generation of that id has made, or undefined until it is completed. */
	output(id: string): Output | undefined {
		const generation = this.ledger.find(id);
		if (!generation || statusAt(generation, this.now()) !== 'completed') return undefined;
		return generation.output;
	}

	/** The entry of that id, or undefined. */
	find(id: string): BookEntry | undefined {
		return this.generations.find((entry) => entry.id === id);
	}
}
