import { onAbort } from '../../client/basics/abort';

/**
 * Calls `action` when the signal aborts: at once where it has, never where there is none.
 *
 * @returns ends the waiting
 */
export function whenAborted(signal: AbortSignal | undefined, action: () => void): () => void {
	if (!signal?.aborted) return signal ? onAbort(signal, action) : () => {};
	action();
	return () => {};
}

/** What comes of `task`, but no later than the signal: then it rejects with the signal's reason, whatever the task does. */
export async function orAborted<T>(signal: AbortSignal, task: Promise<T>): Promise<T> {
	let forget = () => {};
	const aborted = new Promise<never>((_, reject) => {
		forget = whenAborted(signal, () => reject(signal.reason as Error));
	});
	try {
		return await Promise.race([task, aborted]);
	} finally {
		forget();
	}
}
