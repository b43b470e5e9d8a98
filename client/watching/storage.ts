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

/** What a step knows of the storage, and the pace of its probes. */
export class Storage {
	/** False once the storage proved unreliable: a cached 404, or a file long before its generation is final. */
	usable = true;
	private nextAt = 0;

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
