import type { Clock } from '../ports';
import { sameState, type Row } from './table';

/**
 * Longest gap between two reads that counts in full. A longer one means that the process was paused or its clock
 * jumped.
 */
const LONGEST_GAP_MS = 20_000;

/**
 * Measures how long rows stay unchanged, by the local clock and from reads alone. The dates in a row come from
 * another clock, which may be minutes behind. A new date proves that the writer is alive; an old one proves nothing.
 */
export class StalenessTimer {
	private readonly watched = new Map<number, { row: Row; at: number; stillMs: number }>();

	constructor(private readonly clock: Clock) {}

	/**
	 * Records a row that was read.
	 *
	 * @param readFrom start of the read, in milliseconds since the Unix epoch
	 */
	observe(row: Row, readFrom: number): void {
		const before = this.watched.get(row.id);
		if (before && sameState(before.row, row)) {
			const gapMs = Math.max(0, Math.min(readFrom - before.at, LONGEST_GAP_MS));
			this.watched.set(row.id, { row, at: readFrom, stillMs: before.stillMs + gapMs });
		} else {
			this.watched.set(row.id, { row, at: this.clock.now(), stillMs: 0 });
		}
	}

	/** Returns the milliseconds during which the row was certainly unchanged; 0 for a state that was not observed. */
	stillMs(row: Row): number {
		const seen = this.watched.get(row.id);
		return seen && sameState(seen.row, row) ? seen.stillMs : 0;
	}
}
