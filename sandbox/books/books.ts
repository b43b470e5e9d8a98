import { statusAt } from '../generations/generations';
import type { Output } from '../generations/generations';
import type { FetchedInput } from '../generations/input-fetch';
import { usedInDay } from './credits';
import type { Ledger } from './ledger';

/** A generation as tests see it. Times are milliseconds since 1970, and amounts are credits. */
export interface BookEntry {
	id: string;
	account: string;
	/** The key's name. */
	key: string;
	type: 'image' | 'video';
	model: string;
	prompt: string;
	request: Readonly<Record<string, unknown>>;
	/** The fields of the request that have no effect. */
	ignored: readonly string[];
	created: number;
	finishes: number;
	state: string;
	charged: number;
	refunded: number;
	/** The files that the sandbox fetched for it. */
	fetched: readonly FetchedInput[];
}

interface Totals {
	created: number;
	running: number;
	completed: number;
	failed: number;
	charged: number;
	refunded: number;
}

/** Records what was really created and charged. Tests compare a client's results with it. */
export class Books {
	constructor(
		private readonly ledger: Ledger,
		private readonly now: () => number,
	) {}

	/** The current state of every generation ever created, oldest first. */
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
			ignored: generation.ignored,
			created: generation.createdAt,
			finishes: generation.finishAt,
			state: statusAt(generation, now),
			charged: generation.charged,
			refunded: generation.refunded,
			fetched: generation.fetched,
		}));
	}

	/** Totals over all generations. */
	get totals(): Totals {
		const totals = { created: 0, running: 0, completed: 0, failed: 0, charged: 0, refunded: 0 };
		for (const { state, charged, finishes, refunded } of this.generations) {
			totals.created += 1;
			totals.charged += charged;
			totals.refunded += refunded;
			if (state === 'completed' || state === 'failed') totals[state] += 1;
			else if (finishes > this.now()) totals.running += 1;
		}
		return totals;
	}

	/** Returns how many generations with exactly this prompt are charged and not refunded. 2 is a double charge. */
	liveChargesFor(prompt: string): number {
		return this.generations.filter(
			(entry) => entry.prompt === prompt && entry.charged > entry.refunded,
		).length;
	}

	/** Returns the credits that a connected app has used in the last 24 hours (spec 8). */
	usedInDay(callerName: string): number {
		const now = this.now();
		this.ledger.settle(now);
		return usedInDay(callerName, this.ledger.all, now);
	}

	/** Returns the output of a generation, or undefined until it is completed. */
	output(id: string): Output | undefined {
		const generation = this.ledger.find(id);
		if (!generation || statusAt(generation, this.now()) !== 'completed') return undefined;
		return generation.output;
	}

	/** Returns the entry with that id, or undefined. */
	find(id: string): BookEntry | undefined {
		return this.generations.find((entry) => entry.id === id);
	}
}
