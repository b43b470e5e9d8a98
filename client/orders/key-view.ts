import type { Clock } from '../ports';
import type { Answer } from './batched-table';
import { tableTrouble } from './order-errors';
import {
	hasId,
	isLive,
	isUnresolved,
	rowsInForce,
	sameState,
	SENT,
	silenceIn,
	silentStatus,
	type Row,
	type RowFields,
	type TableScope,
} from './table';

/** Longest gap between two reads that counts in full. After a longer one, the process was paused or its clock jumped. */
const LONGEST_GAP_MS = 20_000;
/** A writer is treated as dead when its row has not changed for this long. */
const GONE_AFTER_MS = 60_000;
/** Maximum number of writes of a key that have no effect. */
const MOST_MISSES = 10;
/** How often a silent row is marked. If the waiting execution dies, the next one continues to count from the mark. */
const MARK_EVERY_MS = 20_000;

/** What a step knows of its keys. Some of it is newer than the table. */
export class KeyView {
	/** The row that counts for each key, as last known; `null` if there is none, missing if the key was not read. */
	readonly rows = new Map<string, Row | null>();
	/** Number of failed generations by key. */
	readonly failures = new Map<string, number>();
	/** Ids of failed generations. The table may still hold an older status for them. */
	readonly failed = new Set<string>();
	/** Writers of rows that are being deleted. */
	readonly dropped = new Set<string>();
	private readonly misses = new Map<string, number>();
	/** Unresolved rows of other executions, and for how long they were seen unchanged. */
	private readonly silent = new Map<number, { row: Row; at: number; unchangedMs: number }>();

	/** @param isNewerInMemory true if the table may hold an older state of a key */
	constructor(
		private readonly scope: TableScope,
		private readonly clock: Clock,
		private readonly isNewerInMemory: (key: string) => boolean,
	) {}

	/** Keys whose request another execution is sending. */
	get watched(): string[] {
		const elsewhere = [...this.rows].filter(([, row]) => row && this.isElsewhere(row));
		return elsewhere.map(([key]) => key);
	}

	/** Stores what was read of a key. */
	observe(key: string, answer: Answer): void {
		const rows = this.rowsOf(key, answer);
		if (this.isNewerInMemory(key)) return;
		const row = rowsInForce(rows).get(key) ?? null;
		if (row && this.isElsewhere(row)) this.measure(row, answer.readAt);
		this.rows.set(key, row);
	}

	/** Returns all rows of a key, without those that are being deleted. One into which a user has entered an id stays. */
	rowsOf(key: string, { rows }: Answer): Row[] {
		const seen = rows
			.filter((row) => row.key === key && (hasId(row) || !this.dropped.has(row.writer)))
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
		return isUnresolved(row) && row.writer !== '' && !isOwn;
	}

	/**
	 * Decides about the writer of an unresolved row. No clock of another machine is trusted: a row must be seen unchanged
	 * for a minute, by one execution or by several in succession. A heartbeat of the writer starts the minute again.
	 *
	 * @returns what to write into the row: it is dead if `writer` is removed
	 */
	verdictOn(row: Row): 'wait' | 'abandoned' | Partial<RowFields> {
		if (!this.isElsewhere(row)) return 'abandoned';
		const unchangedMs = this.unchangedMs(row);
		const silentMs = silenceIn(row) + unchangedMs;
		if (silentMs >= GONE_AFTER_MS) return { writer: '', status: SENT };
		return unchangedMs < MARK_EVERY_MS ? 'wait' : { status: silentStatus(silentMs) };
	}

	/**
	 * Returns the milliseconds during which a row was certainly unchanged. Only the local clock and reads count: the dates in
	 * a row come from another clock. A new date proves that the writer is alive; an old one proves nothing.
	 */
	unchangedMs(row: Row): number {
		const seen = this.silent.get(row.id);
		return seen && sameState(seen.row, row) ? seen.unchangedMs : 0;
	}

	/** Counts a write that had no effect. Throws GenerationError `record_unavailable` if that goes on. */
	missed(key: string, id?: number): void {
		const misses = (this.misses.get(key) ?? 0) + 1;
		this.misses.set(key, misses);
		if (misses < MOST_MISSES) return;
		this.rows.delete(key);
		throw tableTrouble(id);
	}

	/** @param readAt start of the read of the row, as `Clock.now` */
	private measure(row: Row, readAt: number): void {
		const before = this.silent.get(row.id);
		if (before && sameState(before.row, row)) {
			const gapMs = Math.max(0, Math.min(readAt - before.at, LONGEST_GAP_MS));
			this.silent.set(row.id, { row, at: readAt, unchangedMs: before.unchangedMs + gapMs });
		} else {
			this.silent.set(row.id, { row, at: this.clock.now(), unchangedMs: 0 });
		}
	}
}
