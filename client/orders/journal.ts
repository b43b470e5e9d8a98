import { eachOnce, type KnownGeneration } from '../api/errors';
import type { Generation } from '../api/generation';
import { withModel, type CreateRequest } from '../api/client';
import { outputName, type CreateJob, type OutputRef } from '../job';
import {
	digest,
	digestOf,
	isLive,
	requestFields,
	storedKey,
	type RequestFields,
	type Row,
} from './table';

/**
 * Digests that identify an order within its item; `''` for none. Never the texts: they are stored with the execution. The
 * recipes are of the request's parameters and the key before evaluation.
 */
type OrderDigests = Record<'request' | 'recipe' | 'key' | 'keyRecipe', string>;

/** An order as it is stored with the execution. */
export interface StoredOrder extends OrderDigests {
	/** Number of requests that were sent and not certainly rejected, until there is a generation. */
	sent?: number;
	/** The `Idempotency-Key` header of these requests. */
	header?: string;
	id?: string;
	status?: string;
}

/** The orders of a node, by the node's run index and the name of the output. The last order of a list is the newest. */
export type StoredOrders = Record<string, Record<string, StoredOrder[]>>;

/** An item's order. Its request may be megabytes, so it is not kept. */
export interface Order {
	job: CreateJob;
	digests: OrderDigests;
	/** Key of its row in the table; `null` for an item without an idempotency key. */
	key: string | null;
	/** Row fields of the request that is sent. They change with its model, and it stays the same order. */
	fields: RequestFields;
	/** Digests of the request with each of its models. */
	requests: ReadonlySet<string>;
	/** Equal for orders that must be handled one after the other. */
	lock: string;
}

/** The stored state of an order. `sent`: the results of these requests are unknown. `changed`: of another request. */
export type Entry =
	| { state: 'none' }
	| { state: 'sent'; count: number; row?: Row }
	| { state: 'made'; id: string; status: string; changed?: boolean };

/** A generation on record, and when its row last changed, in milliseconds since the Unix epoch; `null` if that is not known. */
export interface OnRecord {
	id: string;
	changedAt: number | null;
}

const NO_RECIPE = { request: '', idempotencyKey: '' };

/**
 * Stores orders, so that later attempts reuse a paid generation. This one stores them with the execution: they survive
 * Retry On Fail and "Retry execution". `TableJournal` adds a table that outlives the execution.
 */
export class Journal {
	/**
	 * @param shared the object stored with the execution
	 * @param runIndex a later run of a loop pays for its own generations
	 * @param execution is the same in all retries of the execution
	 */
	constructor(
		readonly shared: StoredOrders,
		readonly runIndex: number,
		readonly execution = '',
	) {}

	/**
	 * Finds or makes the order of a request. A changed prompt or idempotency key is a new order. Another result of the same
	 * recipe is not: a random seed would be charged in every attempt. Nor is a key that was added or removed.
	 */
	order(job: CreateJob, request: CreateRequest): Order {
		const { recipe, idempotencyKey: key = null, fallbackModels = [] } = job;
		const unevaluated = recipe?.() ?? NO_RECIPE;
		const fields = requestFields(request);
		const current: OrderDigests = {
			request: fields.request,
			recipe: digestOrEmpty(unevaluated.request),
			key: digestOrEmpty(key ?? ''),
			keyRecipe: digestOrEmpty(key === null ? '' : unevaluated.idempotencyKey),
		};
		const earlier = this.orders(job).filter((one) => isLive(one) && mayHaveSameKey(current, one));
		const digests =
			earlier.find((one) => one.request === current.request) ??
			earlier.find((one) => current.recipe !== '' && one.recipe === current.recipe) ??
			current;
		const models = key === null ? [] : fallbackModels;
		const others = models.map((model) => withModel(request, model));
		return {
			job,
			digests,
			key: key === null ? null : storedKey(key),
			fields,
			requests: new Set([fields.request, ...others.map(digestOf)]),
			lock: JSON.stringify(key === null ? [this.runIndex, outputName(job), digests.request] : key),
		};
	}

	/**
	 * Returns the stored state of an order. If another execution is sending it, waits for the result.
	 *
	 * @param mayDefer true if `reserve` follows at once, and may find a generation as well
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	read(order: Order, signal: AbortSignal, mayDefer?: boolean): Promise<Entry>;
	async read(order: Order): Promise<Entry> {
		return await Promise.resolve(this.known(order));
	}

	/** Returns the known state of an order without reading the table. Valid once nothing more is sent for it. */
	known(order: Order): Entry {
		const { id, status, sent } = this.find(order) ?? {};
		if (id !== undefined) return { state: 'made', id, status: status ?? '' };
		return sent === undefined ? { state: 'none' } : { state: 'sent', count: sent };
	}

	/** Reserves an order ahead, so that `reserve` need not wait for the table. `abandon` takes it back. Never throws. */
	prepare?(order: Order): Promise<void>;

	/**
	 * Stores that a request is about to be sent. Returns its `Idempotency-Key` header; `null` if it could not
	 * be reserved, so that the order must be read again.
	 *
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async reserve(order: Order): Promise<string | null> {
		const failed = this.orders(order.job).flatMap((one) => (isLive(one) ? [] : [one.id]));
		const owner = [this.execution, this.runIndex, outputName(order.job)];
		const header = headerOf(owner, new Set(failed).size, order.fields.request);
		return await Promise.resolve(this.countRequest(order, header));
	}

	/** Takes back a reservation whose request was certainly not charged. */
	release(order: Order): void {
		const entry = this.find(order);
		if (entry?.sent === undefined) return;
		if (entry.sent > 1) entry.sent--;
		else {
			const orders = this.orders(order.job);
			orders.splice(orders.indexOf(entry), 1);
		}
	}

	/** Ends the reservation of an order for which nothing more is sent. A request without a response stays counted. */
	abandon?(order: Order): void;

	/** Stores a generation as soon as its id is known, and when its status changes. */
	commit(order: Order, { item: { id, status } }: Generation): void {
		const known = this.orders(order.job).find((one) => one.id === id);
		const entry = known ?? this.find(order) ?? this.add(order);
		delete entry.sent;
		delete entry.header;
		Object.assign(entry, { id, ...(status !== null && { status }) });
	}

	/** Returns the generation that an output has paid for. `order` is `null` if its request was never built. */
	paidBy(output: OutputRef & Partial<CreateJob>, order: Order | null): KnownGeneration | null {
		const orders = this.orders(output);
		const counted = order ? orders.filter((one) => isSame(one, order.digests)) : orders;
		return paidIn(counted).at(-1) ?? null;
	}

	/** Returns every generation that the attempts of this run have paid for. Parameters may have changed since. */
	paid(): KnownGeneration[] {
		return eachOnce(paidIn(Object.values(this.ordersOfRun).flat()));
	}

	/** The orders of this run of the node, in all attempts of the step. The object also identifies the run. */
	get ordersOfRun(): Record<string, StoredOrder[]> {
		return (this.shared[this.runIndex] ??= {});
	}

	/**
	 * True if another workflow or node has a generation of the same key and request. Only one of this step is reused. Valid
	 * once the order was read or reserved.
	 */
	existsElsewhere?(order: Order): boolean;

	/** Returns the generations of the step's rows, if rows outlive the execution. */
	onRecord?(): OnRecord[];

	/** Adds advice about the order's row to an error. */
	explain(_order: Order, error: unknown): unknown {
		return error;
	}

	/**
	 * Counts a request that is about to be sent. An order that may already be charged keeps its header, which is returned.
	 *
	 * @param sentElsewhere number of unresolved requests of other executions, used if there is no entry
	 */
	protected countRequest(order: Order, header: string, sentElsewhere = 0): string {
		const entry = this.find(order) ?? this.add(order);
		entry.sent = (entry.sent ?? sentElsewhere) + 1;
		return (entry.header ??= header);
	}

	private orders(output: OutputRef): StoredOrder[] {
		return this.ordersOfRun[outputName(output)] ?? [];
	}

	private find({ job, digests }: Order): StoredOrder | undefined {
		return this.orders(job)
			.filter((one) => isLive(one) && isSame(one, digests))
			.at(-1);
	}

	private add({ job, digests }: Order): StoredOrder {
		const { request, recipe, key, keyRecipe } = digests;
		const added = { request, recipe, key, keyRecipe };
		(this.ordersOfRun[outputName(job)] ??= []).push(added);
		return added;
	}
}

/**
 * Returns the `Idempotency-Key` header of an order. Services that support it create nothing for a repeated value, so all
 * attempts send the same one. Another request gets a new one, and so does the order after a failed generation.
 *
 * @param owner identifies the order: its workflow, node and idempotency key, or its execution, run and item
 */
export function headerOf(owner: Array<string | number>, failures: number, request: string): string {
	return digest(JSON.stringify([...owner, failures, request]));
}

/** Returns the generations of orders, without failed ones. */
function paidIn(orders: StoredOrder[]): KnownGeneration[] {
	return orders
		.filter(isLive)
		.flatMap(({ id, status }) => (id === undefined ? [] : [{ id, status }]));
}

/** Parallel tool calls may have equal requests and different recipes: n8n may evaluate all with the first call's arguments. */
function isSame(one: OrderDigests, other: OrderDigests): boolean {
	const names = ['request', 'recipe', 'key', 'keyRecipe'] as const;
	return names.every((name) => one[name] === other[name]);
}

/** Two idempotency keys differ only if both their values and their expressions do. A missing key matches any key. */
function mayHaveSameKey(one: OrderDigests, other: OrderDigests): boolean {
	if (one.key === '' || other.key === '') return true;
	return one.key === other.key || (one.keyRecipe !== '' && one.keyRecipe === other.keyRecipe);
}

function digestOrEmpty(text: string): string {
	return text === '' ? '' : digest(text);
}
