import type { Clock } from './ports';

/** A timer that fires later than this was held up together with the whole process, as in a paused container. */
const LATE_MS = 1_000;

/** How long answers that arrived during such a pause have to be read. */
const GRACE_MS = 5_000;

/**
 * Resolves after `ms` milliseconds, or as soon as `signal` aborts. After a pause of the process, timers fire before the
 * sockets are read. A deadline that was held up therefore waits a little longer, so that no answer is lost that has
 * already arrived.
 */
export async function deadline(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
	const due = clock.now() + ms;
	await clock.sleep(ms, signal);
	if (!signal.aborted && clock.now() - due > LATE_MS) await deadline(clock, GRACE_MS, signal);
}
