import { toResult } from '../async';
import type { CreateJob, OutputRef } from '../job';
import type { KnownGeneration } from '../api/errors';
import { isFinal, type Generation } from '../api/generation';
import { BatchedTable, type TablePorts } from './batched-table';
import { headerOf, Journal, type Entry, type OnRecord, type Order } from './journal';
import { KeyRow } from './key-row';
import { explainedByRow } from './order-errors';
import { hasId, isUnresolved, storedKey, type Row, type TableScope } from './table';

/** Interval of the heartbeat while requests are in flight. */
const BEAT_MS = 15_000;

/** Also stores the orders with an idempotency key in a table, which is written first before a request, and last after a response. */
export class TableJournal extends Journal {
	private readonly rows = new Map<string, KeyRow>();
	private readonly table: BatchedTable;
	private readonly closing = new AbortController();

	/** @param inner the orders that are stored with the execution */
	constructor(inner: Journal, scope: TableScope, ports: TablePorts) {
		super(inner.shared, inner.runIndex, inner.execution);
		this.table = new BatchedTable(scope, ports);
		void this.beat();
	}

	/** The rows of generations that could not be written to the table, by key. */
	get unrecorded(): ReadonlyMap<string, Row> {
		const missing = [...this.rows].flatMap(([key, { unrecorded }]): Array<[string, Row]> => {
			return unrecorded ? [[key, unrecorded]] : [];
		});
		return new Map(missing);
	}

	/** True if the table has a row for the generation of a job, or gets one. */
	hasRow({ idempotencyKey: key }: Pick<CreateJob, 'idempotencyKey'>): boolean {
		return Boolean(key) && this.rowOf(storedKey(key ?? '')).unrecorded === null;
	}

	/**
	 * Reads the keys of a step at once, before any order is sent. A single key is read together with its reservation
	 * instead.
	 *
	 * @throws GenerationError `record_unavailable`
	 */
	async begin(keys: string[]): Promise<void> {
		if (keys.length === 1) return;
		const read = await toResult(async () => await this.refresh([...new Set(keys.map(storedKey))]));
		// After a cancellation nothing is sent.
		if (!read.ok && !this.table.ports.signal.aborted) throw read.error;
	}

	/** Finishes all writes. Never throws. */
	async close(): Promise<void> {
		this.closing.abort();
		await Promise.all([...this.rows.values()].map(async ({ arriving }) => await arriving));
		await this.table.close();
	}

	override async read(order: Order, signal: AbortSignal, mayDefer = false): Promise<Entry> {
		const entry = super.known(order);
		if (order.key === null) return entry;
		const keyRow = this.rowOf(order.key);
		const isNew = entry.state === 'none';
		const row = await keyRow.find(order.job.timeoutMs, signal, mayDefer && isNew);
		if (entry.state === 'made') {
			// The generation was paid for before the item had this key.
			const isMissing = row === null && !keyRow.failed.has(entry.id);
			if (isMissing && (await keyRow.reserve(order))) keyRow.made(order, entry);
			return entry;
		}
		if (row && hasId(row)) {
			const changed = row.request !== '' && !order.requests.has(row.request);
			return { state: 'made', id: row.generation_id, status: row.status, changed };
		}
		return row && isUnresolved(row) ? unresolvedEntry(row, entry) : entry;
	}

	override known(order: Order): Entry {
		const entry = super.known(order);
		const row = this.knownRow(order.key);
		if (!row || entry.state === 'made') return entry;
		const isLeft = isUnresolved(row) && row.writer === '';
		return isLeft || entry.state === 'sent' ? unresolvedEntry(row, entry) : entry;
	}

	override async prepare(order: Order): Promise<void> {
		if (order.key === null || super.known(order).state !== 'none') return;
		const keyRow = this.rowOf(order.key);
		// Only a key that was read, and has no row. An error of the table comes back when the order is reserved.
		if (keyRow.row === null) await toResult(async () => await keyRow.reserve(order, false));
	}

	override async reserve(order: Order): Promise<string | null> {
		const { key } = order;
		if (key === null) return await super.reserve(order);
		const keyRow = this.rowOf(key);
		const reserved = await keyRow.reserve(order);
		if (reserved === null) return null;
		const { workflowId, nodeId, type } = this.table.scope;
		const owner = [workflowId, nodeId, ...(type === undefined ? [] : [type])];
		const header = headerOf([...owner, key], keyRow.failures, reserved.row.request);
		// The entry of this execution does not count the request of another one.
		return this.countRequest(order, header, reserved.wasUnresolved ? 1 : 0);
	}

	override release(order: Order): void {
		super.release(order);
		const staysUnresolved = super.known(order).state === 'sent';
		if (order.key !== null && !staysUnresolved) this.rowOf(order.key).release(order);
	}

	override abandon(order: Order): void {
		if (order.key !== null) this.rowOf(order.key).release(order, true);
	}

	override commit(order: Order, generation: Generation): void {
		super.commit(order, generation);
		const { key } = order;
		if (key === null) return;
		const { id, status } = generation.item;
		this.rowOf(key).made(order, generation.item);
		if (isFinal(generation) && status !== null) this.ended(key, { id, status });
	}

	/** Writes how a generation ended, such as one of an earlier step. */
	ended(key: string, end: { id: string; status: string }): void {
		this.rowOf(key).ended(end);
	}

	override paidBy(
		output: OutputRef & Partial<CreateJob>,
		order: Order | null,
	): KnownGeneration | null {
		const { idempotencyKey: key } = output;
		const row = this.knownRow(key ? storedKey(key) : null);
		const inRow = row && hasId(row) ? { id: row.generation_id, status: row.status } : null;
		return super.paidBy(output, order) ?? inRow;
	}

	/** The beginning of the prompt that the generation of a job's key was created from; `null` if it is not known. */
	promptOf({ idempotencyKey: key }: Pick<CreateJob, 'idempotencyKey'>): string | null {
		return this.knownRow(key ? storedKey(key) : null)?.prompt || null;
	}

	override existsElsewhere({ key, requests }: Order): boolean {
		const elsewhere = this.table.elsewhere.get(key ?? '');
		return elsewhere !== undefined && [...requests].some((request) => elsewhere.has(request));
	}

	override onRecord(): OnRecord[] {
		const made = [...this.rows.values()].flatMap(({ row }) => (row && hasId(row) ? [row] : []));
		return made.map(({ generation_id: id, changedAt }) => ({ id, changedAt }));
	}

	override explain(order: Order, error: unknown): unknown {
		const row = this.knownRow(order.key);
		return row ? explainedByRow(error, row) : error;
	}

	private rowOf(key: string): KeyRow {
		const row = this.rows.get(key) ?? new KeyRow(key, this.table);
		this.rows.set(key, row);
		return row;
	}

	private knownRow(key: string | null): Row | null {
		return (key === null ? null : this.rowOf(key).row) ?? null;
	}

	/** Reads keys again, each named once. Throws as `BatchedTable.require`. */
	private async refresh(keys: string[]): Promise<void> {
		const answer = await this.table.require({ keys });
		keys.forEach((key) => this.rowOf(key).observe(answer));
	}

	/** Sends the heartbeat. Reads the unresolved rows of other executions again, or writes the queued final statuses. */
	private async beat(): Promise<void> {
		const { signal } = this.closing;
		for (;;) {
			await this.table.ports.clock.sleep(BEAT_MS, signal);
			if (signal.aborted) return;
			const rows = [...this.rows];
			if (rows.some(([, { held }]) => held)) void this.table.beat();
			// The silence of other executions is measured before an item waits for them.
			const watched = rows.filter(([, row]) => row.isElsewhere).map(([key]) => key);
			if (watched.length === 0) void this.table.flush();
			else void toResult(async () => await this.refresh(watched));
		}
	}
}

/** The state of an order that was sent, and whose row has no id. */
function unresolvedEntry(row: Row, entry: Entry): Entry {
	return { state: 'sent', count: entry.state === 'sent' ? entry.count : 1, row };
}
