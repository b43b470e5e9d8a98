/** The ends of the tasks that are waited for, by what they share and by key. */
const turns = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Runs one task at a time of those with the same key, first come, first served: who comes second sees what the first has
 * left behind. Others are not kept waiting.
 *
 * @param shared what the tasks have in common, such as the record that they read and write
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
