/**
 * Group commit: what is asked for while a group is under way is carried out together, as the next group.
 *
 * @param carryOut does a whole group, and tells what came of each, in their order; where it rejects, each of them does
 * @param ready resolves when a group may go, and never rejects: what is asked for until then comes along
 * @returns a function that adds one to the next group
 */
export function gather<T, R>(
	carryOut: (group: T[]) => Promise<R[]>,
	// Whatever asks at this very moment comes along.
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
