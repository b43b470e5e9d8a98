import type { CreateJob } from '../job';
import type { KnownGeneration } from '../api/errors';
import type { Generation } from '../api/generation';
import type { CreateRequest } from '../api/client';
import { digest, type RequestFields, type Row } from './table';

/** Digests that identify an order within its item. `''` for none. Never the texts: they are stored with the execution. */
export interface Marks {
	request: string;
	/** The parameters of the request before evaluation. */
	recipe: string;
	/** The idempotency key, and the key before evaluation. */
	key: string;
	keyRecipe: string;
}

/** An item's order. Its request may be megabytes, so it is not kept. */
export interface Order {
	job: CreateJob;
	marks: Marks;
	/** Key of its row in the table; `null` for an item without an idempotency key. */
	key: string | null;
	/** Row fields of the request that is sent. They change with its model, and it stays the same order. */
	fields: RequestFields;
	/** Digests of the request with each of its models. */
	requests: ReadonlySet<string>;
	/** Equal for orders that must be handled one after the other. */
	lock: string;
}

/** The stored state of an order. */
export type Entry =
	| { state: 'none' }
	/** Requests were sent, and their results are unknown. `row` is its row in the table, if there is one. */
	| { state: 'sent'; count: number; row?: Row }
	/** There is a generation to reuse. `changed`: its request was different. */
	| { state: 'made'; id: string; status: string; changed?: boolean };

/**
 * Stores orders, so that retries, restarts and other executions reuse a paid generation. `ExecutionJournal` stores them
 * with the execution. `TableJournal` adds the orders with an idempotency key to a table that outlives it.
 */
export interface Journal {
	/** An object that all journals of the same execution share. */
	readonly shared: object;

	order(job: CreateJob, request: CreateRequest): Order;

	/**
	 * Returns the stored state of an order. If another execution is sending it, waits for the result.
	 *
	 * @param signal ends the wait
	 * @param mayDefer true if `reserve` follows at once, and may find a generation as well
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	read(order: Order, signal: AbortSignal, mayDefer?: boolean): Promise<Entry>;

	/** Returns the known state of an order without reading the table. Valid once nothing more is sent for it. */
	known(order: Order): Entry;

	/**
	 * Stores that a request is about to be sent.
	 *
	 * @returns the request's `Idempotency-Key` header; `null` if nothing may be sent, because another execution was
	 * first
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	reserve(order: Order): Promise<string | null>;

	/** Takes back a reservation whose request was certainly not charged. */
	release(order: Order): void;

	/** Call this once nothing more is sent for a reserved order. */
	abandon(order: Order): void;

	/** Stores a generation as soon as its id is known, and when its status changes. */
	commit(order: Order, generation: Generation): void;

	/**
	 * Returns the generation that an item is known to have paid for; `null` if there is none.
	 *
	 * @param order `null` if its request was never built, so that any order of the item counts
	 */
	paidBy(job: CreateJob, order: Order | null): KnownGeneration | null;

	/** Adds advice about the order's row to an error that says that the generation or its file does not exist. */
	explain(order: Order, error: unknown): unknown;
}

/**
 * Returns the `Idempotency-Key` header of an order. The spec does not mention this header. Services and gateways that
 * know it create nothing for a second request with the same value.
 *
 * The value is the same in every attempt and every execution. It differs for another request, because such services
 * reject a changed body under an old value. It also differs after a failed generation, because they would return the
 * failed one again.
 *
 * @param owner identifies the order: its workflow, node and idempotency key, or its execution, run and item
 * @param failures number of failed generations of the order
 * @param request from `digestOf`
 */
export function headerOf(owner: Array<string | number>, failures: number, request: string): string {
	return digest(JSON.stringify([...owner, failures, request]));
}
