/** How a task ended, as a value. */
export type Attempt<T> = { ok: true; value: T } | { ok: false; error: unknown };

/** Runs a task to its end, whatever that is, and never rejects. */
export async function attempt<T>(task: () => Promise<T>): Promise<Attempt<T>> {
	try {
		return { ok: true, value: await task() };
	} catch (error) {
		return { ok: false, error };
	}
}
