import { sleep } from 'n8n-workflow';

import { onAbort, raceAbort, toResult } from '../../../client/async';
import type { Clock } from '../../../client/ports';

/** The longest delay of a Node.js timer, in milliseconds. A longer delay fires immediately. */
const LONGEST = 2 ** 31 - 1;

/** The largest difference so far between the system's time and the time since the process started. */
let aheadMs = -Infinity;

/**
 * Returns milliseconds since the Unix epoch. The result never goes back, even if the system's clock is set back. It does
 * follow that clock forward, because `performance.now()` may stand still while the machine is suspended.
 */
function now(): number {
	const sinceStart = performance.now();
	aheadMs = Math.max(aheadMs, Date.now() - sinceStart);
	return Math.floor(aheadMs + sinceStart);
}

/** The clock of all waits except request timeouts. When `signal` ends a wait early, `own` clears the timer. */
export const wallClock: Clock = {
	now,
	sleep: async (wanted, signal) => {
		const ms = Math.min(wanted, LONGEST);
		if (!signal) return await sleep(ms);
		const own = new AbortController();
		await toResult(async () => await raceAbort(signal, sleep(ms, own.signal)));
		own.abort('settled');
	},
};

/**
 * The clock for request timeouts. Its timers do not keep the process alive. Tests that speed up the wall clock
 * leave this clock alone, because requests to a real server take real time.
 */
export const requestClock: Clock = {
	now,
	sleep: async (ms, signal) =>
		await new Promise<void>((resolve) => {
			const forget = onAbort(AbortSignal.timeout(ms), resolve);
			onAbort(signal, () => {
				forget();
				resolve();
			});
		}),
};

/** Items between two yields to the event loop. n8n evaluates a few thousand per second, so 50 block it only briefly. */
const ITEMS_AT_ONCE = 50;

/** Yields to the event loop now and then, so that thousands of items do not block n8n. Call it before each item. */
export async function yieldBefore(itemIndex: number): Promise<void> {
	if (itemIndex > 0 && itemIndex % ITEMS_AT_ONCE === 0) await wallClock.sleep(0);
}
