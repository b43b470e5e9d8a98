/**
 * Group commit: what is asked for while a group is under way is carried out together, as the next group.
 *
 * @param carryOut does a whole group, and tells what came of each, in their order; where it rejects, each of them does
 * @param turn runs a task when it is its turn: what is asked for until then comes along
 * @returns a function that adds one to the next group
 */
export function gather<T, R>(
	carryOut: (group: T[]) => Promise<R[]>,
	turn = async (task: () => Promise<void>) => await task(),
): (one: T) => Promise<R> {
	interface Waiting {
		one: T;
		resolve: (result: R) => void;
		reject: (error: unknown) => void;
	}
	let next: Waiting[] = [];
	let busy = false;

	const carryOutNext = async () => {
		// Whatever asks at this very moment comes along.
		await Promise.resolve();
		const group = next;
		next = [];
		try {
			const results = await carryOut(group.map(({ one }) => one));
			group.forEach(({ resolve }, index) => resolve(results[index]));
		} catch (error) {
			group.forEach(({ reject }) => reject(error));
		}
	};

	const work = async () => {
		busy = true;
		while (next.length > 0) await turn(carryOutNext);
		busy = false;
	};

	return async (one) =>
		await new Promise<R>((resolve, reject) => {
			next.push({ one, resolve, reject });
			if (!busy) void work();
		});
}
