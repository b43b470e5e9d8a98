import type { Clock } from '../basics/ports';
import type { RecordRow } from './record-store';

/** The clocks of n8n's processes may differ by so much: what a row says of its last change is believed only beyond that. */
const CLOCKS_DIFFER_MS = 120_000;

/** For how long a row has certainly stood still: by our own clock since we look, or by its writer's where that is long ago. */
export class Quiet {
	private seen = '';
	private from = 0;

	constructor(private readonly clock: Clock) {}

	since({ id, writer, status, changedAt }: RecordRow): number {
		const now = this.clock.now();
		const state = JSON.stringify([id, writer, status, changedAt]);
		if (state !== this.seen) this.from = now;
		this.seen = state;
		const stated = changedAt === null ? 0 : now - changedAt - CLOCKS_DIFFER_MS;
		return Math.max(now - this.from, stated);
	}
}
