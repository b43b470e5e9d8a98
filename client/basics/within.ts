import { onAbort } from './abort';
import { deadline } from './deadline';
import type { Clock } from './ports';

/**
 * Runs a task with a timeout. At the timeout, or when `signal` aborts, the task's own signal aborts.
 *
 * @param ms timeout in milliseconds; if it is not above 0, the task does not start
 * @returns the task's result in an object; `null` if the timeout passed first
 * @throws the error of the task
 */
export async function within<T>(
	clock: Clock,
	ms: number,
	signal: AbortSignal,
	task: (signal: AbortSignal) => Promise<T>,
): Promise<{ value: T } | null> {
	if (ms <= 0) return null;
	const own = new AbortController();
	const over = new AbortController();
	const forget = onAbort(signal, () => own.abort());
	const late = deadline(clock, ms, over.signal).then(() => null);
	const running = task(own.signal).then((value) => ({ value }));
	try {
		const done = await Promise.race([running, late]);
		if (!done) own.abort();
		return done;
	} finally {
		forget();
		// Without a reason, each one would make a DOMException with a stack trace.
		over.abort('over');
	}
}
