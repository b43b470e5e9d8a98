import { onAbort } from './abort';
import { deadline } from './deadline';
import type { Clock } from './ports';

/**
 * Runs a task for at most so long. Then, or when `signal` aborts, the signal that the task was handed aborts.
 *
 * @param ms milliseconds; nothing is begun where none are left
 * @returns what the task came to, in an object; `null` where its time was over first
 * @throws what the task throws
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
