import { toResult } from '../async';
import type { CreateJob } from '../jobs/job';
import { BatchedTable, type TablePorts } from './batched-table';
import { Journal } from './journal';
import { KeyRow } from './key-row';
import type { Memory, Silence } from '../jobs/memory';
import type { Row } from '../jobs/row';
import { storedKey, type TableScope } from './table';

/** A journal that also stores orders with an idempotency key in a data table, which outlives the execution. */
export class TableJournal extends Journal {
	private readonly rows = new Map<string, KeyRow>();
	private readonly table: BatchedTable;

	/** @param inner the orders that are stored with the execution */
	constructor(inner: Journal, scope: TableScope, ports: TablePorts) {
		super(inner.shared, inner.runIndex, inner.execution);
		this.table = new BatchedTable(scope, ports);
	}

	/** Rows that could not be written to the table after their generations were created. */
	get unrecorded(): Row[] {
		return [...this.rows.values()].flatMap(({ unrecorded }) => unrecorded ?? []);
	}

	/** For each row whose request another execution is sending: how long it is unchanged. The next run continues the count. */
	get silences(): Silence[] {
		return [...this.rows.values()].flatMap(({ isElsewhere, silence }) =>
			isElsewhere && silence ? silence : [],
		);
	}

	/** True if the generation of a job is in the table, or is being written. The job must have a generation. */
	hasRow({ idempotencyKey: key }: Pick<CreateJob, 'idempotencyKey'>): boolean {
		return Boolean(key) && this.keyRow(storedKey(key ?? '')).unrecorded === null;
	}

	/**
	 * Reads all keys of a step in one call, before any order is sent.
	 *
	 * @throws GenerationError `record_unavailable`
	 */
	async begin(keys: string[], memory?: Memory): Promise<void> {
		for (const silence of memory?.silences ?? []) this.keyRow(silence.row.key).silence = silence;
		const read = await toResult(async () => await this.refresh([...new Set(keys.map(storedKey))]));
		// After a stop, nothing is sent, so a failed read does not matter.
		if (!read.ok && !this.table.ports.signal.aborted) throw read.error;
		for (const row of memory?.unwritten ?? []) this.keyRow(row.key).adopt(row);
		this.writeAgain();
	}

	/** Number of creating requests that all runs of a sleeping step have sent, counted by their rows in the table. */
	get sentByStep(): number {
		const rows = [...this.rows.values()];
		const isOwn = (one: KeyRow) => one.row && one.isOwn(one.row);
		return rows.reduce((sum, one) => sum + one.ownFailures.length + (isOwn(one) ? 1 : 0), 0);
	}

	/** Finishes all writes. Never throws. */
	async close(): Promise<void> {
		await Promise.all([...this.rows.values()].map(async ({ early }) => await early.take(false)));
		await this.arrived();
		this.writeAgain();
		await this.arrived();
		await this.table.close();
	}

	/** Tries again to write the generation ids that could not be written before. */
	private writeAgain(): void {
		for (const row of this.rows.values()) row.writeAgain();
	}

	/** Resolves when no id is being written. */
	private async arrived(): Promise<void> {
		await Promise.all([...this.rows.values()].map(async ({ arriving }) => await arriving));
	}

	protected override readonly rowOf = (key: string | null) =>
		key === null ? null : this.keyRow(key);

	private keyRow(key: string): KeyRow {
		const refresh = async () => {
			// Also read keys whose requests other executions send: their `silence` then grows before an item waits.
			const watched = [...this.rows].filter(([, one]) => one.isElsewhere).map(([other]) => other);
			await this.refresh([...new Set([key, ...watched])]);
		};
		const row = this.rows.get(key) ?? new KeyRow(key, this.table, refresh);
		this.rows.set(key, row);
		return row;
	}

	/** Reads keys (no duplicates) from the table and updates their rows. Throws `record_unavailable`, or CancelledError. */
	private async refresh(keys: string[]): Promise<void> {
		const answer = await this.table.require({ keys });
		const rows = new Map<string, Row[]>();
		for (const row of answer.rows) {
			const ofKey = rows.get(row.key);
			if (ofKey) ofKey.push(row);
			else rows.set(row.key, [row]);
		}
		for (const key of keys) this.keyRow(key).observe({ ...answer, rows: rows.get(key) ?? [] });
	}
}
