/** When a suspended wait sleeps, and for how long. All in milliseconds. */

/** The shortest sleep: n8n looks for sleepers every minute, so a shorter sleep would end late. */
export const SHORTEST_NAP_MS = 65_000;
const LONGEST_NAP_MS = 600_000;

/** So many naps of the longest kind fill a timeout that is longer than a few hours. */
const LONG_NAPS = 40;

/** The shortest timeout that leaves time for a sleep after the step has waited as long itself. */
export const LEAST_TIMEOUT_MS = 2 * SHORTEST_NAP_MS;

/**
 * How long to sleep: half as long again as the wait has lasted, so that the end of a short wait is noticed soon and a
 * long one sends few requests. A sleep that would leave less than another sleep until the timeout lasts until the timeout.
 *
 * @param dueMs until the poll interval allows the next status check
 * @returns `null` where less than the shortest sleep is left: this must be waited for awake
 */
export function napMs(waitedMs: number, timeoutMs: number, dueMs: number): number | null {
	const leftMs = timeoutMs - waitedMs;
	if (leftMs < SHORTEST_NAP_MS) return null;
	const longest = Math.max(LONGEST_NAP_MS, timeoutMs / LONG_NAPS);
	const wanted = Math.max(SHORTEST_NAP_MS, dueMs, Math.min(waitedMs / 2, longest));
	return leftMs - wanted < SHORTEST_NAP_MS ? leftMs : wanted;
}

/** How often a wait of that timeout sleeps, at most. The first sleep comes when the step has waited by itself. */
export function napsWithin(timeoutMs: number): number {
	let naps = 0;
	for (let waitedMs = SHORTEST_NAP_MS; ; naps++) {
		const nap = napMs(waitedMs, timeoutMs, 0);
		if (nap === null) return naps;
		waitedMs += nap;
	}
}
