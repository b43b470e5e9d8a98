/** The last queued task, by shared object and key. */
const turns = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Runs tasks with the same key one at a time, in order of arrival. Each task sees the results of the tasks before it.
 * Tasks with other keys are not delayed.
 *
 * @param shared the object that the tasks have in common, such as the record that they read and write
 * @returns the result of the task
 * @throws the error of the task
 */
export async function inTurn<T>(shared: object, key: string, task: () => Promise<T>): Promise<T> {
	const ends = turns.get(shared) ?? new Map<string, Promise<unknown>>();
	turns.set(shared, ends);
	const turn = (ends.get(key) ?? Promise.resolve()).then(task);
	const end = turn.catch(() => undefined);
	ends.set(key, end);
	try {
		return await turn;
	} finally {
		if (ends.get(key) === end) ends.delete(key);
	}
}
