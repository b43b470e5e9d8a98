/** Runs at most `places` tasks at a time; the others wait in order. */
export function takeTurns(places: number): <T>(task: () => Promise<T>) => Promise<T> {
	let free = places;
	const waiting: Array<() => void> = [];
	const release = (): void => {
		const next = waiting.shift();
		if (next) next();
		else free += 1;
	};
	return async (task) => {
		if (free > 0) free -= 1;
		else await new Promise<void>((resolve) => waiting.push(resolve));
		try {
			return await task();
		} finally {
			release();
		}
	};
}
