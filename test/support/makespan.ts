/**
 * Returns the makespan of list scheduling: each generation starts as soon as it has arrived and a slot is free.
 *
 * @param arrivals arrival times in seconds; by default, all arrive at the start
 * @returns seconds until the last generation ends
 */
export function idealMakespan(durations: number[], slots: number, arrivals: number[] = []): number {
	const freeAt = new Array<number>(slots).fill(0);
	durations.forEach((duration, index) => {
		const first = freeAt.indexOf(Math.min(...freeAt));
		freeAt[first] = Math.max(freeAt[first], arrivals[index] ?? 0) + duration;
	});
	return Math.max(...freeAt);
}
