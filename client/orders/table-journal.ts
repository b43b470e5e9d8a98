import type { CreateJob } from '../job';
import type { KnownGeneration } from '../api/errors';
import { isFinal, type Generation } from '../api/generation';
import type { CreateRequest } from '../api/client';
import type { TablePorts } from './batched-table';
import type { ExecutionJournal } from './execution-journal';
import { headerOf, type Entry, type Journal, type Order } from './journal';
import { KeyTable } from './key-table';
import { explainedByRow } from './order-errors';
import { hasId, isOpenRow, storedKey, type Row, type TableScope } from './table';

/**
 * Adds the orders with an idempotency key to a table that outlives the execution. All orders are stored with the
 * execution as well: before a request, the table is written first; after a response, the execution is.
 */
export class TableJournal implements Journal {
	readonly shared: object;
	/** The rows of generations that could not be written to the table, by key. */
	readonly unrecorded: ReadonlyMap<string, Row>;
	private readonly table: KeyTable;
	/** Open rows that may be sent again, if nothing changes them before. */
	private readonly open = new Map<string, Row>();

	constructor(
		private readonly inner: ExecutionJournal,
		private readonly scope: TableScope,
		ports: TablePorts,
	) {
		this.table = new KeyTable(scope, ports);
		this.shared = inner.shared;
		this.unrecorded = this.table.unrecorded;
	}

	/** True if the table has a row for the generation of a job, or gets one. */
	hasRow({ idempotencyKey: key }: Pick<CreateJob, 'idempotencyKey'>): boolean {
		return Boolean(key) && !this.unrecorded.has(storedKey(key ?? ''));
	}

	/**
	 * Reads the keys of a step. Call this before any order is sent.
	 *
	 * @throws GenerationError `record_unavailable`
	 */
	async begin(keys: string[]): Promise<void> {
		await this.table.open(keys.map(storedKey));
	}

	/** Finishes all writes. Never throws. */
	async close(): Promise<void> {
		await this.table.close();
	}

	order(job: CreateJob, request: CreateRequest): Order {
		return this.inner.order(job, request);
	}

	async read(order: Order, signal: AbortSignal, mayDefer = false): Promise<Entry> {
		const { key, job, fields, requests } = order;
		const entry = this.inner.known(order);
		if (key === null) return entry;
		const isNew = entry.state === 'none';
		const row = await this.table.find(key, signal, job.timeoutMs, mayDefer && isNew);
		this.open.delete(key);
		if (entry.state === 'made') {
			// The generation was paid for before the item had this key.
			const isMissing = row === null && !this.table.view.failed.has(entry.id);
			const isReserved = isMissing && (await this.table.reserve(key, order, fields));
			if (isReserved) this.table.made(key, order, entry);
			return entry;
		}
		if (row && hasId(row)) {
			const changed = row.request !== '' && !requests.has(row.request);
			return { state: 'made', id: row.generation_id, status: row.status, changed };
		}
		if (!row || !isOpenRow(row)) return entry;
		this.open.set(key, row);
		return openEntry(row, entry);
	}

	known(order: Order): Entry {
		const entry = this.inner.known(order);
		const row = this.rowOf(order);
		if (!row || entry.state === 'made') return entry;
		const isLeft = isOpenRow(row) && row.writer === '';
		return isLeft || entry.state === 'sent' ? openEntry(row, entry) : entry;
	}

	async reserve(order: Order): Promise<string | null> {
		const { key, fields } = order;
		if (key === null) return await this.inner.reserve(order);
		const open = this.open.get(key);
		// A row that may already be charged keeps the request digest that its header is made from.
		const request = open?.request || fields.request;
		if (!(await this.table.reserve(key, order, { ...fields, request }, open))) return null;
		this.open.delete(key);
		const { workflowId, nodeId } = this.scope;
		const failures = this.table.view.failures.get(key) ?? 0;
		const header = headerOf([workflowId, nodeId, key], failures, request);
		// The execution does not have the request that another one sent.
		return this.inner.note(order, header, open ? 1 : 0);
	}

	release(order: Order): void {
		this.inner.release(order);
		const isOpen = this.inner.known(order).state === 'sent';
		if (order.key !== null && !isOpen) this.table.release(order.key, order);
	}

	abandon(order: Order): void {
		if (order.key !== null) this.table.release(order.key, order, true);
	}

	commit(order: Order, generation: Generation): void {
		this.inner.commit(order, generation);
		const { key } = order;
		if (key === null) return;
		const { id, status } = generation.item;
		this.table.made(key, order, generation.item);
		if (isFinal(generation) && status !== null) this.table.ended(key, { id, status });
	}

	/** Writes how a generation of an earlier step ended. */
	ended(key: string, end: { id: string; status: string }): void {
		this.table.ended(key, end);
	}

	paidBy(job: CreateJob, order: Order | null): KnownGeneration | null {
		const { idempotencyKey } = job;
		const row = idempotencyKey ? this.table.view.rows.get(storedKey(idempotencyKey)) : null;
		const onRecord = row && hasId(row) ? { id: row.generation_id, status: row.status } : null;
		return this.inner.paidBy(job, order) ?? onRecord;
	}

	explain(order: Order, error: unknown): unknown {
		const row = this.rowOf(order);
		return row ? explainedByRow(error, row) : error;
	}

	private rowOf({ key }: Order): Row | null {
		return (key === null ? null : this.table.view.rows.get(key)) ?? null;
	}
}

/** The state of an order that was sent, and whose row has no id. */
function openEntry(row: Row, entry: Entry): Entry {
	return { state: 'sent', count: entry.state === 'sent' ? entry.count : 1, row };
}
