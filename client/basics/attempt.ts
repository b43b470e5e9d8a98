/** The result of a task, as a value. */
export type Attempt<T> = { ok: true; value: T } | { ok: false; error: unknown };

/** Runs a task and returns its result or its error. Never rejects. */
export async function attempt<T>(task: () => Promise<T>): Promise<Attempt<T>> {
	try {
		return { ok: true, value: await task() };
	} catch (error) {
		return { ok: false, error };
	}
}
