import { eachOnce, type KnownGeneration } from '../api/errors';
import { isFinal, type Generation } from '../api/generation';
import { outputName, type CreateJob, type OutputRef } from '../jobs/job';
import type { KeyRow } from './key-row';
import { headerOf, isSame, orderOf, type Order, type OrderDigests } from './order';
import { explainedByRow, type Unresolved } from './order-errors';
import type { Row } from '../jobs/row';
import { hasId, isLive } from './table';

/** An order (what one output of an item asks for), as it is stored with the execution. */
export interface StoredOrder extends OrderDigests {
	/** Number of creating requests that may have been charged and returned no id. Deleted once an id is known. */
	sent?: number;
	/** The `Idempotency-Key` header of the requests that `sent` counts. */
	header?: string;
	id?: string;
	status?: string;
}

/** The orders of a node, by the node's run index and then by `outputName`. The last order of a list is the newest. */
export type StoredOrders = Record<string, Record<string, StoredOrder[]>>;

/** The stored state of an order. `sent`: the result is unknown. `changed`: the generation is from another request. */
type Entry =
	| { state: 'none' }
	| ({ state: 'sent' } & Unresolved)
	| { state: 'made'; id: string; status: string; changed?: boolean };

/** Orders whose creating request is in flight, in all steps of this process. In memory only. */
const inFlight = new WeakSet<StoredOrder>();

/** The right to send one creating request of an order. The holder ends the claim by calling `made`, `free` or `lost`. */
export interface Claim {
	/** The `Idempotency-Key` header of the request. */
	header: string;
	/** Stores the generation as soon as its id is known. */
	made(generation: Generation): void;
	/** Call this if the request was certainly not charged. */
	free(): void;
	/** Call this if the request may have been charged, and its generation is unknown. */
	lost(): void;
}

/**
 * Stores orders with the execution, so that n8n's Retry On Fail and "Retry execution" reuse a paid generation. The subclass
 * `TableJournal` also writes orders with an idempotency key to a data table, so that other executions reuse them.
 */
export class Journal {
	/**
	 * @param shared the object stored with the execution
	 * @param execution identifies the execution, and is the same in all of its retries
	 */
	constructor(
		readonly shared: StoredOrders,
		readonly runIndex: number,
		readonly execution = '',
	) {}

	/** Returns the row of a key; `null` for an item without a key. Always `null` here: only `TableJournal` has rows. */
	protected readonly rowOf: (key: string | null) => KeyRow | null = () => null;

	/** Returns the rows that runs of this sleeping step wrote for a key: `failed` ones, oldest first, and the `live` one. */
	tries({ key }: Pick<Order, 'key'>): { failed: Row[]; live: Row | null } {
		const keyRow = this.rowOf(key);
		const { row = null, ownFailures = [] } = keyRow ?? {};
		return { failed: ownFailures, live: row && hasId(row) && keyRow?.isOwn(row) ? row : null };
	}

	/**
	 * Returns the stored state of an order. If another execution is sending its request, waits for the result.
	 *
	 * @param wait pauses before the table is read again; gets the number of reads; rejects once the step ends
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async read(
		order: Order,
		signal: AbortSignal,
		wait: (reads: number) => Promise<void>,
	): Promise<Entry> {
		const keyRow = this.rowOf(order.key);
		if (!keyRow) return this.known(order);
		const { id, status = '' } = this.find(order) ?? {};
		const row = await keyRow.find(order.job, signal, wait);
		if (id !== undefined && row === null && !keyRow.failed.has(id)) {
			// An earlier attempt paid for the generation when the item did not have this key. Store its id in a row of the key.
			if (await keyRow.claim(order.fields)) keyRow.made({ id, status });
		}
		return this.known(order);
	}

	/** Returns the known state of an order without reading the table. */
	known(order: Order): Entry {
		const { id, status = '', sent } = this.find(order) ?? {};
		if (id !== undefined) return { state: 'made', id, status };
		const keyRow = this.rowOf(order.key);
		const row = keyRow?.row;
		if (row && hasId(row)) {
			const changed = row.request !== '' && row.request !== order.digests.request;
			return { state: 'made', id: row.generation_id, status: row.status, changed };
		}
		if (sent !== undefined) return { state: 'sent', count: sent, ...(row && { row }) };
		return row && !keyRow.isElsewhere ? { state: 'sent', count: 1, row } : { state: 'none' };
	}

	/**
	 * Stores that a request is about to be sent. Until the claim ends, nothing else sends a request for the order. Returns
	 * `null` if another execution was first: the caller must then read the order again.
	 *
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async claim(order: Order): Promise<Claim | null> {
		const keyRow = this.rowOf(order.key);
		const held = keyRow && (await keyRow.claim(order.fields));
		if (keyRow && !held) return null;
		const stored = this.find(order) ?? this.add(order);
		// An unresolved row counts as one request, unless this execution has its own count for the order.
		const before = stored.sent ?? (held?.wasUnresolved ? 1 : 0);
		stored.sent = before + 1;
		inFlight.add(stored);
		const end = (sent: number) => {
			inFlight.delete(stored);
			stored.sent = sent;
			const orders = this.orders(order.job);
			if (sent === 0) orders.splice(orders.indexOf(stored), 1);
			keyRow?.release(sent > 0);
		};
		return {
			// A repeated request keeps its header: a service that supports `Idempotency-Key` then creates no second generation.
			header: (stored.header ??= held?.header ?? this.headerWithoutKey(order)),
			made: (generation) => {
				inFlight.delete(stored);
				keyRow?.made(generation.item);
				this.commit(order, generation);
			},
			free: () => end(before),
			lost: () => end(before + 1),
		};
	}

	/** Begins to claim an order that will soon be sent. Returns false if the order has no key, or the key is not free. */
	claimEarly({ key, fields }: Order): boolean {
		const keyRow = this.rowOf(key);
		if (!keyRow?.isFree) return false;
		keyRow.early.begin(async () => {
			const held = await keyRow.claim(fields, true);
			// Another execution claimed the key first. `undefined` makes `KeyRow.find` read the key before anything is sent.
			if (!held) keyRow.row = undefined;
			return held;
		});
		return true;
	}

	private headerWithoutKey({ job, fields }: Order): string {
		const failed = this.orders(job).flatMap((one) => (isLive(one) ? [] : [one.id]));
		const owner = [this.execution, this.runIndex, outputName(job)];
		return headerOf(owner, new Set(failed).size, fields);
	}

	/** Stores the generation of an order, or the new status of a generation that is stored already. */
	commit(order: Order, generation: Generation): void {
		const { id, status } = generation.item;
		const known = this.orders(order.job).find((one) => one.id === id);
		const entry = known ?? this.find(order) ?? this.add(order);
		delete entry.sent;
		delete entry.header;
		Object.assign(entry, { id, ...(status !== null && { status }) });
		if (isFinal(generation) && status !== null) this.rowOf(order.key)?.ended({ id, status });
	}

	/** Returns the generation that this or an earlier attempt of the step has paid for; `null` if none is known. */
	paidFor(job: CreateJob): KnownGeneration | null {
		const entry = this.known(orderOf(job, this.runIndex));
		return entry.state === 'made' ? { id: entry.id, status: entry.status || 'pending' } : null;
	}

	/**
	 * Returns the requests of an order that may have been charged and returned no id; `null` if there are none. A request in
	 * flight does not count: another call of an AI agent may be sending the same order.
	 */
	unresolved(order: Order): Unresolved | null {
		const stored = this.find(order);
		const entry = stored && inFlight.has(stored) ? null : this.known(order);
		return entry?.state === 'sent' ? entry : null;
	}

	/** Returns what earlier attempts left for an output: the newest paid generation, and the unresolved requests. */
	left(output: OutputRef): { paid: KnownGeneration | null; unresolved: Unresolved | null } {
		const orders = this.orders(output);
		const open = orders.filter((one) => !inFlight.has(one));
		const count = open.reduce((sum, { sent = 0 }) => sum + sent, 0);
		return { paid: paidIn(orders).at(-1) ?? null, unresolved: count > 0 ? { count } : null };
	}

	/** Returns every generation that the attempts of this run have paid for, even if the parameters were edited since. */
	paid(): KnownGeneration[] {
		return eachOnce(paidIn(Object.values(this.ordersOfRun).flat()));
	}

	/** The orders of this run of the node, from all attempts. Must stay the same object: callers use it as a WeakMap key. */
	get ordersOfRun(): Record<string, StoredOrder[]> {
		return (this.shared[this.runIndex] ??= {});
	}

	/** Adds advice about the order's row to an error. */
	explain(order: Order, error: unknown): unknown {
		const row = this.rowOf(order.key)?.row;
		return row ? explainedByRow(error, row) : error;
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

/** Returns the generations of orders, without failed ones. */
function paidIn(orders: StoredOrder[]): KnownGeneration[] {
	return orders
		.filter(isLive)
		.flatMap(({ id, status }) => (id === undefined ? [] : [{ id, status: status || 'pending' }]));
}
