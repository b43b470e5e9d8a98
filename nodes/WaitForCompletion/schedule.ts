/** The schedule of a suspended wait. All values are in milliseconds. */

/** The shortest sleep. n8n looks for executions to wake once a minute, so a shorter sleep would end late. */
export const SHORTEST_SLEEP_MS = 65_000;
const LONGEST_SLEEP_MS = 600_000;

/** With a timeout of more than a few hours, the longest sleep is the timeout divided by this. */
const LONG_SLEEPS = 40;

/** The shortest timeout that leaves time for one sleep after the initial polling. */
export const LEAST_TIMEOUT_MS = 2 * SHORTEST_SLEEP_MS;

/**
 * The duration of the next sleep: half of the time waited so far. Short waits are thus noticed early, and long
 * waits send few requests. If the rest would be too short for another sleep, the sleep lasts until the timeout.
 *
 * @param waitedMs time since the wait started
 * @param dueMs time until the poll interval allows the next status check
 * @returns `null` if less than the shortest sleep is left; the step then polls
 */
export function sleepMs(waitedMs: number, timeoutMs: number, dueMs: number): number | null {
	const leftMs = timeoutMs - waitedMs;
	if (leftMs < SHORTEST_SLEEP_MS) return null;
	const longest = Math.max(LONGEST_SLEEP_MS, timeoutMs / LONG_SLEEPS);
	const wanted = Math.max(SHORTEST_SLEEP_MS, dueMs, Math.min(waitedMs / 2, longest));
	return leftMs - wanted < SHORTEST_SLEEP_MS ? leftMs : wanted;
}
