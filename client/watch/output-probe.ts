import type { Probed } from '../ports';

/** The result of a probe of the output URL (spec 4.3). */
export type Sign = 'ready' | 'not yet' | 'nothing';

/**
 * Interprets the response to a request for the first byte of an output. Only that byte proves that the file exists.
 * Only 403 and 404 mean that it does not exist yet. Any other response, such as a redirect, a page or a whole file,
 * means that this storage cannot be probed.
 */
export function signOf({ status, oneByte }: Probed): Sign {
	if (status === 403 || status === 404) return 'not yet';
	return (status === 200 || status === 206) && oneByte ? 'ready' : 'nothing';
}

/** Maximum number of probes per second for a whole step. */
const PROBES_A_SECOND = 25;
const LONGEST_QUEUE_MS = 1_000;

/** The state of the storage for one step, and the rate limit of its probes. */
export class Storage {
	/** False once the storage proved unreliable: a cached 404, or a file long before its generation is final. */
	usable = true;
	private nextAt = 0;

	/**
	 * Reserves a time for a probe.
	 *
	 * @param now milliseconds since the Unix epoch
	 * @returns milliseconds until the probe may be sent; `null` if too many are waiting
	 */
	turn(now: number): number | null {
		const at = Math.max(now, this.nextAt);
		if (at - now > LONGEST_QUEUE_MS) return null;
		this.nextAt = at + 1000 / PROBES_A_SECOND;
		return at - now;
	}
}
