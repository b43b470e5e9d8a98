/**
 * Runs at most `most` tasks at once, in the order in which they were handed over.
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
			// The place is handed on, so that nobody slips in between.
			if (next) next();
			else running--;
		}
	};
}
