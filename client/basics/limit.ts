/**
 * Runs at most `most` tasks at once, in the order of the calls.
 *
 * @returns a function that takes a task and resolves or rejects as the task does
 */
export function limit(most: number): <T>(task: () => Promise<T>) => Promise<T> {
	let running = 0;
	const waiting: Array<() => void> = [];
	return async (task) => {
		if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
		else running++;
		try {
			return await task();
		} finally {
			const next = waiting.shift();
			// The place goes directly to the next task, so that no new call takes it first.
			if (next) next();
			else running--;
		}
	};
}
