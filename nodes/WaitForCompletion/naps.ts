/** When a suspended wait looks. All in milliseconds. */

/** What is slept at least: n8n looks for sleepers every minute, so a shorter sleep would end late. */
export const SHORTEST_NAP_MS = 65_000;
const LONGEST_NAP_MS = 600_000;

/** So many naps of the longest kind fill a timeout that is longer than a few hours. */
const LONG_NAPS = 40;

/**
 * How long to sleep after a look: half as long again as the wait has lasted, so that a short one is noticed soon and a
 * long one asks little, and no less than the poll interval; but not past the timeout.
 */
export function napMs(waitedMs: number, timeoutMs: number, intervalMs: number): number {
	const longest = Math.max(LONGEST_NAP_MS, timeoutMs / LONG_NAPS);
	const wanted = Math.max(intervalMs, Math.min(waitedMs / 2, longest));
	return Math.max(SHORTEST_NAP_MS, Math.min(wanted, timeoutMs - waitedMs));
}

/** How often a wait of that timeout looks, at most. The first look comes when the step has waited by itself. */
export function looksWithin(timeoutMs: number): number {
	let looks = 1;
	let waitedMs = SHORTEST_NAP_MS + napMs(SHORTEST_NAP_MS, timeoutMs, 0);
	while (waitedMs < timeoutMs) {
		looks++;
		waitedMs += napMs(waitedMs, timeoutMs, 0);
	}
	return looks;
}
