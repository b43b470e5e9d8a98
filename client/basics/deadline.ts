import type { Clock } from './ports';

/** A timer that fires later than this was delayed by a pause of the process, such as a paused container. */
const LATE_MS = 1_000;

/** Extra time to read responses that arrived during such a pause. */
const GRACE_MS = 5_000;

/**
 * Resolves after `ms` milliseconds, or as soon as `signal` aborts. After a pause of the process, timers fire before
 * sockets are read. A delayed deadline therefore waits a little longer, so that a response that has arrived is not
 * lost.
 */
export async function deadline(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
	const due = clock.now() + ms;
	await clock.sleep(ms, signal);
	if (!signal.aborted && clock.now() - due > LATE_MS) await deadline(clock, GRACE_MS, signal);
}
