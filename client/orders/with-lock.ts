/** The end of the last task, by shared object and key. */
const locks = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Runs tasks with the same key one at a time, in order of arrival. Tasks with other keys are not delayed.
 *
 * @param shared the object that the tasks have in common
 * @returns the result of the task
 * @throws the error of the task
 */
export async function withLock<T>(shared: object, key: string, task: () => Promise<T>): Promise<T> {
	const ends = locks.get(shared) ?? new Map<string, Promise<unknown>>();
	locks.set(shared, ends);
	const running = (ends.get(key) ?? Promise.resolve()).then(task);
	const end = running.catch(() => undefined);
	ends.set(key, end);
	try {
		return await running;
	} finally {
		if (ends.get(key) === end) ends.delete(key);
	}
}
