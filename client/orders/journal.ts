import { eachOnce, type KnownGeneration } from '../api/errors';
import { isFinal, type Generation } from '../api/generation';
import { outputName, type CreateJob, type OutputRef } from '../jobs/job';
import type { KeyRow } from './key-row';
import { headerOf, isSame, orderOf, type Order, type OrderDigests } from './order';
import { explainedByRow, type Unresolved } from './order-errors';
import type { Row } from '../jobs/row';
import { hasId, isLive } from './table';

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

/** The stored state of an order. `sent`: `count` requests have no known result. `changed`: another request made it. */
type Entry =
	| { state: 'none' }
	| ({ state: 'sent' } & Unresolved)
	| { state: 'made'; id: string; status: string; changed?: boolean };

/** Orders whose request is in flight, in any step that runs now. Not stored. */
const inFlight = new WeakSet<StoredOrder>();

/** The right to send one creating request of an order. Ends with `made`, `free` or `lost`. */
export interface Claim {
	/** The `Idempotency-Key` header of the request. */
	header: string;
	/** Stores the generation as soon as its id is known. */
	made(generation: Generation): void;
	/** The request was certainly not charged. */
	free(): void;
	/** The request may have been charged. */
	lost(): void;
}

/**
 * Stores orders with the execution, so that Retry On Fail and "Retry execution" reuse a paid generation. An order whose key
 * has a row (`TableJournal`) is stored there as well: first before a request, and last after its response.
 */
export class Journal {
	/**
	 * @param shared the object stored with the execution
	 * @param execution is the same in all retries of the execution
	 */
	constructor(
		readonly shared: StoredOrders,
		readonly runIndex: number,
		readonly execution = '',
	) {}

	/** Returns the row of a stored key; `null` if keys have none here, or for an item without a key. */
	protected readonly rowOf: (key: string | null) => KeyRow | null = () => null;

	/** The generations that earlier runs of a step that sleeps have created: the failed ones, the oldest first, and the live one. */
	tries({ key }: Pick<Order, 'key'>): { failed: Row[]; live: Row | null } {
		const keyRow = this.rowOf(key);
		const { row = null, ownFailures = [] } = keyRow ?? {};
		return { failed: ownFailures, live: row && hasId(row) && keyRow?.isOwn(row) ? row : null };
	}

	/**
	 * Returns the stored state of an order. If another execution is sending it, waits for the result.
	 *
	 * @param wait as in `KeyRow.find`
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
			// The generation was paid for before the item had this key.
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
	 * Stores that a request is about to be sent. Afterwards, nothing else sends one for the order. Returns `null` if another
	 * execution was first, so that the order must be read again.
	 *
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async claim(order: Order): Promise<Claim | null> {
		const keyRow = this.rowOf(order.key);
		const held = keyRow && (await keyRow.claim(order.fields));
		if (keyRow && !held) return null;
		const stored = this.find(order) ?? this.add(order);
		// An order that is stored counts only the requests of this execution.
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
			// An order that may already be charged keeps its header.
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

	/** Begins the claim of an order that is sent soon. Returns false if there is nothing to write, or its key is in use. */
	claimEarly({ key, fields }: Order): boolean {
		const keyRow = this.rowOf(key);
		if (!keyRow?.isFree) return false;
		keyRow.early.begin(async () => {
			const held = await keyRow.claim(fields, true);
			// Another execution was ahead. An order that has read the key before has to read it again.
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

	/** Stores a generation, and its status when that changes. */
	commit(order: Order, generation: Generation): void {
		const { id, status } = generation.item;
		const known = this.orders(order.job).find((one) => one.id === id);
		const entry = known ?? this.find(order) ?? this.add(order);
		delete entry.sent;
		delete entry.header;
		Object.assign(entry, { id, ...(status !== null && { status }) });
		if (isFinal(generation) && status !== null) this.rowOf(order.key)?.ended({ id, status });
	}

	/** Returns the generation that a job has paid for. */
	paidFor(job: CreateJob): KnownGeneration | null {
		const entry = this.known(orderOf(job, this.runIndex));
		return entry.state === 'made' ? { id: entry.id, status: entry.status || 'pending' } : null;
	}

	/**
	 * Returns the requests of an order that may have been charged and have no generation, or `null`. One that is in flight in
	 * another call of an agent does not count.
	 */
	unresolved(order: Order): Unresolved | null {
		const stored = this.find(order);
		const entry = stored && inFlight.has(stored) ? null : this.known(order);
		return entry?.state === 'sent' ? entry : null;
	}

	/** Returns the newest generation, and else the unresolved requests, of an output whose parameters are no longer valid. */
	left(output: OutputRef): { paid: KnownGeneration | null; unresolved: Unresolved | null } {
		const orders = this.orders(output);
		const open = orders.filter((one) => !inFlight.has(one));
		const count = open.reduce((sum, { sent = 0 }) => sum + sent, 0);
		return { paid: paidIn(orders).at(-1) ?? null, unresolved: count > 0 ? { count } : null };
	}

	/** Returns every generation that the attempts of this run have paid for. Parameters may have changed since. */
	paid(): KnownGeneration[] {
		return eachOnce(paidIn(Object.values(this.ordersOfRun).flat()));
	}

	/** The orders of this run of the node, in all attempts of the step. The object also identifies the run. */
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
