import type { Clock } from '../basics/ports';
import type { RecordRow } from './record-store';

/** For how long a row has stood still: by the clocks that n8n's processes share, or by our own where those disagree. */
export class Quiet {
	private seen = '';
	private from = 0;

	constructor(private readonly clock: Clock) {}

	since({ id, writer, status, changedAt }: RecordRow): number {
		const now = this.clock.now();
		const state = JSON.stringify([id, writer, status, changedAt]);
		if (state !== this.seen) this.from = now;
		this.seen = state;
		return Math.max(now - this.from, changedAt === null ? 0 : now - changedAt);
	}
}
