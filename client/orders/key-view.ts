import type { Clock } from '../ports';
import type { Answer } from './batched-table';
import { StalenessTimer } from './staleness-timer';
import { hasId, isLive, isOpenRow, rowInForce, type Row, type TableScope } from './table';

/** What a step knows of its keys. Some of it is newer than the table. */
export class KeyView {
	/** The row that counts for each key, as last known; `null` if there is none. */
	readonly rows = new Map<string, Row | null>();
	/** Number of failed generations by key. */
	readonly failures = new Map<string, number>();
	/** Ids of failed generations. The table may still hold an older status for them. */
	readonly failed = new Set<string>();
	/** Writers of rows that are being deleted. */
	readonly dropped = new Set<string>();
	readonly staleness: StalenessTimer;

	/** @param isAhead true if the state of a key in memory is newer than the table */
	constructor(
		private readonly scope: TableScope,
		clock: Clock,
		private readonly isAhead: (key: string) => boolean,
	) {
		this.staleness = new StalenessTimer(clock);
	}

	/** Keys whose request another execution is sending. */
	get watched(): string[] {
		const elsewhere = [...this.rows].filter(([, row]) => row && this.isElsewhere(row));
		return elsewhere.map(([key]) => key);
	}

	/** Stores what was read of a key. */
	observe(key: string, answer: Answer): void {
		const rows = this.rowsOf(key, answer);
		if (this.isAhead(key)) return;
		const row = rowInForce(rows);
		if (row && this.isElsewhere(row)) this.staleness.observe(row, answer.from);
		this.rows.set(key, row);
	}

	/** Returns all rows of a key, without those that are being deleted. */
	rowsOf(key: string, { rows }: Answer): Row[] {
		const seen = rows
			.filter((row) => row.key === key && !this.dropped.has(row.writer))
			.map((row) => (this.failed.has(row.generation_id) ? { ...row, status: 'failed' } : row));
		const failed = seen.filter((row) => !isLive(row));
		failed.filter(hasId).forEach((row) => this.failed.add(row.generation_id));
		this.failures.set(key, failed.length);
		return seen;
	}

	/** A failed generation was refunded, so its row no longer counts. */
	fail(key: string, id: string): void {
		this.rows.set(key, null);
		this.failed.add(id);
		this.failures.set(key, (this.failures.get(key) ?? 0) + 1);
	}

	/** True if another execution is sending the request of a row. */
	isElsewhere(row: Row): boolean {
		const isOwn = row.writer.startsWith(`${this.scope.writer}/`);
		return isOpenRow(row) && row.writer !== '' && !isOwn;
	}
}
