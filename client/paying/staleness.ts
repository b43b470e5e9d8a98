import type { Clock } from '../basics/ports';
import { sameState } from './record-rows';
import type { RecordRow } from './record-store';

/** Time between two reads counts up to this: a process that was paused, or whose clock jumped, has not watched. */
const LONGEST_GAP_MS = 20_000;

/**
 * Measures how long rows stand still, by our own clock and from what was read alone. The dates in a row are of another
 * clock, which may be minutes behind: a new date shows that its writer is alive, an old one shows nothing.
 */
export class StalenessTimer {
	private readonly watched = new Map<number, { row: RecordRow; at: number; stillMs: number }>();

	constructor(private readonly clock: Clock) {}

	/** Takes note of a row that was read. @param readFrom when the read began, in milliseconds since the Unix epoch */
	observe(row: RecordRow, readFrom: number): void {
		const before = this.watched.get(row.id);
		if (before && sameState(before.row, row)) {
			const gapMs = Math.max(0, Math.min(readFrom - before.at, LONGEST_GAP_MS));
			this.watched.set(row.id, { row, at: readFrom, stillMs: before.stillMs + gapMs });
		} else {
			this.watched.set(row.id, { row, at: this.clock.now(), stillMs: 0 });
		}
	}

	/** Milliseconds for which a row, as it is given, was certainly seen to stand still. */
	stillMs(row: RecordRow): number {
		const seen = this.watched.get(row.id);
		return seen && sameState(seen.row, row) ? seen.stillMs : 0;
	}
}
