import { onAbort } from '../../../client/async';

/**
 * Settles as `task` does, unless the signal aborts first: then it rejects with the signal's reason. The task
 * itself is not stopped.
 */
export async function raceAbort<T>(signal: AbortSignal, task: Promise<T>): Promise<T> {
	let forget = () => {};
	const aborted = new Promise<never>((_, reject) => {
		forget = onAbort(signal, () => reject(signal.reason as Error));
	});
	try {
		return await Promise.race([task, aborted]);
	} finally {
		forget();
	}
}
