import type { Row, RowFields } from '../jobs/row';
import { sameState, SENT } from './table';

/** A writer is treated as dead when its row has not changed for this long. */
const GONE_AFTER_MS = 60_000;
/** Longest gap between two reads that counts in full. After a longer one, the process was paused or its clock jumped. */
const LONGEST_GAP_MS = 20_000;
/** How often a silent row is marked. If the waiting execution dies, the next one continues to count from the mark. */
const MARK_EVERY_MS = 20_000;

/**
 * Decides whether the writer of an unresolved row is dead. No clock of another machine is trusted: a row must be seen
 * unchanged for a minute, by one execution or by several in succession. A heartbeat of the writer starts the minute again.
 */
export class Staleness {
	private seen: { row: Row; readAt: number; at: number; unchangedMs: number } | null = null;

	/**
	 * Measures for how long a row of another execution has been unchanged. Only the local clock counts: the date in the
	 * row comes from another clock, and only shows whether the row was written to.
	 *
	 * @param readAt start of the read
	 * @param now end of the read. The first read counts from its end, because the row may have changed while it ran
	 */
	observe(row: Row, readAt: number, now: number): void {
		const before = this.seen;
		// Several calls may share one read.
		if (before?.readAt === readAt) return;
		if (before && sameState(before.row, row)) {
			before.unchangedMs += Math.max(0, Math.min(readAt - before.at, LONGEST_GAP_MS));
			before.at = before.readAt = readAt;
		} else this.seen = { row, readAt, at: now, unchangedMs: 0 };
	}

	/** Returns the milliseconds during which a row was certainly unchanged. */
	unchangedMs(row: Row): number {
		return this.seen && sameState(this.seen.row, row) ? this.seen.unchangedMs : 0;
	}

	/** Returns the fields to write into a row. An empty `writer` means that its writer is dead. `null`: too early to tell. */
	verdictOn(row: Row): Partial<RowFields> | null {
		const unchangedMs = this.unchangedMs(row);
		const silentMs = silenceIn(row) + unchangedMs;
		if (silentMs >= GONE_AFTER_MS) return { writer: '', status: SENT };
		return unchangedMs < MARK_EVERY_MS ? null : { status: silentStatus(silentMs) };
	}
}

/**
 * The status of a row that other executions have seen unchanged for `ms`. The next execution continues to count from
 * there. A heartbeat of the writer sets it back to `SENT`.
 */
const silentStatus = (ms: number) => `${SENT}, silent for ${Math.floor(ms / 1000)} s`;

/** Milliseconds during which other executions have seen the row unchanged. */
function silenceIn({ status }: RowFields): number {
	return Number(/silent for (\d+) s$/.exec(status)?.[1] ?? 0) * 1000;
}
