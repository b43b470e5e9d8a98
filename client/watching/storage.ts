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
const PROBES_A_SECOND = 40;

/** What a step has come to know of the storage, and the pace at which it asks it. */
export class Storage {
	/** False once it has denied a file that was there, as a cache does that remembers. */
	usable = true;
	/** True once the service has confirmed what it said. */
	confirmed = false;
	private nextAt = 0;

	/** @returns when a probe that is wanted at `at` may leave, in milliseconds since the Unix epoch */
	reserve(at: number): number {
		const reserved = Math.max(at, this.nextAt);
		this.nextAt = reserved + 1000 / PROBES_A_SECOND;
		return reserved;
	}
}
