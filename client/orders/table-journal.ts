import { toResult } from '../async';
import type { CreateJob, OutputRef } from '../job';
import type { KnownGeneration } from '../api/errors';
import { isFinal, type Generation } from '../api/generation';
import type { TablePorts } from './batched-table';
import { headerOf, Journal, type Entry, type Order } from './journal';
import { KeyTable } from './key-table';
import { explainedByRow } from './order-errors';
import { hasId, isUnresolved, storedKey, type Row, type TableScope } from './table';

/** Also stores the orders with an idempotency key in a table, which is written first before a request, and last after a response. */
export class TableJournal extends Journal {
	/** The rows of generations that could not be written to the table, by key. */
	readonly unrecorded: ReadonlyMap<string, Row>;
	private readonly table: KeyTable;
	/** Unresolved rows that may be sent again, if nothing changes them before. */
	private readonly resendable = new Map<string, Row>();

	/** @param inner the orders that are stored with the execution */
	constructor(
		inner: Journal,
		private readonly scope: TableScope,
		ports: TablePorts,
	) {
		super(inner.shared, inner.runIndex, inner.execution);
		this.table = new KeyTable(scope, ports);
		this.unrecorded = this.table.unrecorded;
	}

	/** True if the table has a row for the generation of a job, or gets one. */
	hasRow({ idempotencyKey: key }: Pick<CreateJob, 'idempotencyKey'>): boolean {
		return Boolean(key) && !this.unrecorded.has(storedKey(key ?? ''));
	}

	/** Reads the keys of a step, before any order is sent. Throws GenerationError `record_unavailable`. */
	async begin(keys: string[]): Promise<void> {
		await this.table.begin(keys.map(storedKey));
	}

	/** Finishes all writes. Never throws. */
	async close(): Promise<void> {
		await this.table.close();
	}

	override async read(order: Order, signal: AbortSignal, mayDefer = false): Promise<Entry> {
		const { key, job, fields, requests } = order;
		const entry = super.known(order);
		if (key === null) return entry;
		const isNew = entry.state === 'none';
		const row = await this.table.find(key, signal, job.timeoutMs, mayDefer && isNew);
		this.resendable.delete(key);
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
		if (!row || !isUnresolved(row)) return entry;
		this.resendable.set(key, row);
		return unresolvedEntry(row, entry);
	}

	override known(order: Order): Entry {
		const entry = super.known(order);
		const row = this.rowOf(order);
		if (!row || entry.state === 'made') return entry;
		const isLeft = isUnresolved(row) && row.writer === '';
		return isLeft || entry.state === 'sent' ? unresolvedEntry(row, entry) : entry;
	}

	override async prepare(order: Order): Promise<void> {
		const { key, fields } = order;
		if (key === null || super.known(order).state !== 'none') return;
		// Only a key that was read, and has no row.
		if (this.table.view.rows.get(key) !== null) return;
		// An error of the table comes back when the order is reserved.
		await toResult(async () => await this.table.reserve(key, order, fields, { isSending: false }));
	}

	override async reserve(order: Order): Promise<string | null> {
		const { key, fields } = order;
		if (key === null) return await super.reserve(order);
		const resend = this.resendable.get(key);
		// A row that may already be charged keeps the request digest that its header is made from.
		const request = resend?.request || fields.request;
		if (!(await this.table.reserve(key, order, { ...fields, request }, { resend }))) return null;
		this.resendable.delete(key);
		const { workflowId, nodeId } = this.scope;
		const failures = this.table.view.failures.get(key) ?? 0;
		const header = headerOf([workflowId, nodeId, key], failures, request);
		// The entry of this execution does not count the request of another one.
		return this.countRequest(order, header, resend ? 1 : 0);
	}

	override release(order: Order): void {
		super.release(order);
		const staysUnresolved = super.known(order).state === 'sent';
		if (order.key !== null && !staysUnresolved) this.table.reservations.release(order.key, order);
	}

	override abandon(order: Order): void {
		if (order.key !== null) this.table.reservations.release(order.key, order, true);
	}

	override commit(order: Order, generation: Generation): void {
		super.commit(order, generation);
		const { key } = order;
		if (key === null) return;
		const { id, status } = generation.item;
		this.table.made(key, order, generation.item);
		if (isFinal(generation) && status !== null) this.ended(key, { id, status });
	}

	/** Writes how a generation ended, such as one of an earlier step. */
	ended(key: string, end: { id: string; status: string }): void {
		this.table.ended(key, end);
	}

	override paidBy(
		output: OutputRef & Partial<CreateJob>,
		order: Order | null,
	): KnownGeneration | null {
		const { idempotencyKey } = output;
		const row = idempotencyKey ? this.table.view.rows.get(storedKey(idempotencyKey)) : null;
		const inRow = row && hasId(row) ? { id: row.generation_id, status: row.status } : null;
		return super.paidBy(output, order) ?? inRow;
	}

	override explain(order: Order, error: unknown): unknown {
		const row = this.rowOf(order);
		return row ? explainedByRow(error, row) : error;
	}

	private rowOf({ key }: Order): Row | null {
		return (key === null ? null : this.table.view.rows.get(key)) ?? null;
	}
}

/** The state of an order that was sent, and whose row has no id. */
function unresolvedEntry(row: Row, entry: Entry): Entry {
	return { state: 'sent', count: entry.state === 'sent' ? entry.count : 1, row };
}
