/**
 * Group commit: calls made while a group is running are carried out together as the next group.
 *
 * @param carryOut processes a group and returns the results in the same order; if it rejects, all calls of the group
 * reject
 * @param ready resolves when a group may start, and never rejects; calls made until then join the group
 * @returns a function that adds one entry to the next group
 */
export function gather<T, R>(
	carryOut: (group: T[]) => Promise<R[]>,
	// By default, calls made in the same tick join the group.
	ready: () => Promise<unknown> = async () => await Promise.resolve(),
): (one: T) => Promise<R> {
	interface Waiting {
		one: T;
		resolve: (result: R) => void;
		reject: (error: unknown) => void;
	}
	let next: Waiting[] = [];
	let busy = false;

	const work = async () => {
		busy = true;
		while (next.length > 0) {
			await ready();
			const group = next;
			next = [];
			try {
				const results = await carryOut(group.map(({ one }) => one));
				group.forEach(({ resolve }, index) => resolve(results[index]));
			} catch (error) {
				group.forEach(({ reject }) => reject(error));
			}
		}
		busy = false;
	};

	return async (one) =>
		await new Promise<R>((resolve, reject) => {
			next.push({ one, resolve, reject });
			if (!busy) void work();
		});
}
