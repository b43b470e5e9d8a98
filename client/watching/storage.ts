import type { Probed } from '../basics/ports';

/** What a probe of the output URL tells (spec 4.3). */
export type Sign = 'ready' | 'not yet' | 'nothing';

/**
 * Reads the answer of a storage that was asked for an output's first byte. Only that byte says that the file is there,
 * and only 403 and 404 that it is not; a redirect, a page or a whole file says that this storage is not to be asked.
 */
export function signOf({ status, oneByte }: Probed): Sign {
	if (status === 403 || status === 404) return 'not yet';
	return (status === 200 || status === 206) && oneByte ? 'ready' : 'nothing';
}

/** At most so many probes a second for a whole step. */
const PROBES_A_SECOND = 25;
const LONGEST_QUEUE_MS = 1_000;

/**
 * A status may come a moment after its file. Who asks for it too early may not ask again for a whole poll interval, so
 * it gets this long, and twice what was not enough; where that is too long, looking at the poll interval is better.
 */
const FIRST_LEAD_MS = 250;
const LONGEST_LEAD_MS = 2_000;

/** What a step has come to know of the storage, and the pace at which it asks it. */
export class Storage {
	/** False once it has denied a file that was there, as a cache does that remembers, or has one long before it is done. */
	usable = true;
	/** Whether its word alone is taken: once it has told apart what was missing and what was there, and not wrongly so. */
	trusted = false;
	private contradicted = false;
	private leadMs = FIRST_LEAD_MS;
	private nextAt = 0;

	/** Milliseconds from the sight of a file until its status is worth asking for. */
	get lead(): number {
		return this.trusted || !this.usable ? 0 : this.leadMs;
	}

	/** The service says the same of an output that was missing before. */
	confirm(): void {
		this.trusted = !this.contradicted;
	}

	/**
	 * The service says that what is there is not done.
	 *
	 * @param ms for how long it has been there
	 */
	contradict(ms: number): void {
		this.contradicted = true;
		this.trusted = false;
		if (ms >= this.leadMs) this.leadMs = 2 * ms;
		if (this.leadMs > LONGEST_LEAD_MS) this.usable = false;
	}

	/**
	 * A place among the probes of the step.
	 *
	 * @returns milliseconds until it may leave; `null` where too many wait already
	 */
	turn(now: number): number | null {
		const at = Math.max(now, this.nextAt);
		if (at - now > LONGEST_QUEUE_MS) return null;
		this.nextAt = at + 1000 / PROBES_A_SECOND;
		return at - now;
	}
}
