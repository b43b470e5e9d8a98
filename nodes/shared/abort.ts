import { onAbort } from '../../client/basics/abort';

/** What comes of `task`, but no later than the signal: then it rejects with the signal's reason, whatever the task does. */
export async function orAborted<T>(signal: AbortSignal, task: Promise<T>): Promise<T> {
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
