import { createHash } from 'crypto';

import { GenerationError, sentences, type KnownGeneration } from '../wire/errors';
import type { Generation } from '../wire/generation';
import type { CreateRequest } from '../wire/service';

/** What is known of one paid request. Without an id its answer never came: whether it was charged is open. */
export interface LedgerEntry {
	id?: string;
	/** The last status seen. */
	status?: string;
}

/**
 * What the tries of one step have paid for, so that a later try takes up the generation that exists. It lives in a
 * plain object that n8n keeps with the execution: it survives Retry On Fail and "Retry execution".
 */
export class Ledger {
	/** The keys that earlier tries of this run have left, by item. */
	private readonly earlier = new Map<string, string[]>();

	/**
	 * @param entries the object kept with the execution; written to at once
	 * @param runIndex which run of the node this is: a later run of a loop is to pay for its own
	 */
	constructor(
		readonly entries: Record<string, LedgerEntry>,
		private readonly runIndex: number,
	) {
		for (const key of Object.keys(entries)) {
			const item = key.slice(0, key.indexOf(':', key.indexOf(':') + 1) + 1);
			this.earlier.set(item, [...(this.earlier.get(item) ?? []), key]);
		}
	}

	/**
	 * One key for an item's request: a changed prompt is a new request. A request that came out differently of the same
	 * recipe is not, or an expression such as a random seed would pay anew with every try.
	 *
	 * @param recipe what the request was made from, where that is known
	 */
	key(itemIndex: number, request: CreateRequest, recipe?: string): string {
		const print = digest(JSON.stringify(request));
		const made = recipe === undefined ? '' : `:${digest(recipe)}`;
		const item = this.prefix(itemIndex);
		const live = (this.earlier.get(item) ?? []).filter(
			(key) => this.entries[key] !== undefined && this.entries[key].status !== 'failed',
		);
		return (
			live.find((key) => key.startsWith(item + print)) ??
			live.find((key) => made !== '' && key.endsWith(made)) ??
			item + print + made
		);
	}

	find(key: string): LedgerEntry | undefined {
		return this.entries[key];
	}

	/** Whether a request went out of which nobody knows what came of it. */
	isOpen(key: string): boolean {
		const entry = this.find(key);
		return entry !== undefined && entry.id === undefined;
	}

	/**
	 * The generation that an item is known to have paid for.
	 *
	 * @param key of its request; `null` where that was never built, so that any request of the item counts
	 */
	paidBy(itemIndex: number, key: string | null): KnownGeneration | null {
		const keys = key === null ? this.keysOf(itemIndex) : [key];
		for (const one of keys.reverse()) {
			const { id, status } = this.entries[one] ?? {};
			if (id !== undefined && status !== 'failed') return { id, status };
		}
		return null;
	}

	/** Every generation that the tries of this run are known to have paid for, also with parameters that were changed since. */
	paid(): KnownGeneration[] {
		return Object.entries(this.entries).flatMap(([key, { id, status }]) =>
			key.startsWith(`${this.runIndex}:`) && id !== undefined && status !== 'failed'
				? [{ id, status }]
				: [],
		);
	}

	/** Written before the request leaves. */
	intend(key: string): void {
		this.entries[key] = {};
	}

	/** Written as soon as the id is known, and when the status changes. */
	record(key: string, { item: { id, status } }: Generation): void {
		this.entries[key] = { id, status };
	}

	/** The request was certainly not charged. */
	withdraw(key: string): void {
		delete this.entries[key];
	}

	private keysOf(itemIndex: number): string[] {
		const prefix = this.prefix(itemIndex);
		return Object.keys(this.entries).filter((key) => key.startsWith(prefix));
	}

	private prefix(itemIndex: number): string {
		return `${this.runIndex}:${itemIndex}:`;
	}
}

function digest(text: string): string {
	return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/**
 * The error of an item whose creating request went out without an answer coming back. Nothing sends it again by itself.
 *
 * @param cause what happened to the request; `null` where an earlier try of the step left it open
 */
export function uncertainCharge(cause: GenerationError | null): GenerationError {
	return new GenerationError({
		title: 'The answer to a creating request was lost: it may have been charged',
		description: sentences(
			cause === null ? 'It was sent in an earlier try of this step' : cause.message,
			cause?.status ? `HTTP ${cause.status}` : null,
			'To be safe it is not sent again by itself. Look in the service’s library or at the balance whether the generation exists: if so, fetch it with Wait for Completion; if not, set On Uncertain Charge to Resubmit and retry',
		),
		code: 'uncertain_charge',
		status: cause?.status,
		charge: 'unknown',
	});
}
