/** A stretch of time, in milliseconds since 1970. */
export interface Span {
	from: number;
	to: number;
}

/**
 * How well the slots of an account were used.
 *
 * @param running one span for each generation, from its creation to its end
 * @param wanted one span for each item, from its arrival until nothing is left to be done at the service for it
 * @returns the time for which slots were busy, over that for which they could have been: at any moment as many slots as
 *   there were items, and no more than the limit
 */
export function slotUse(running: Span[], wanted: Span[], limit: number): number {
	return timeOf(running, limit) / timeOf(wanted, limit);
}

/** The sum of the spans' times, in milliseconds, of which at most so many count at any moment. */
function timeOf(spans: Span[], most: number): number {
	const turns = spans.flatMap(({ from, to }) => [
		{ at: from, change: 1 },
		{ at: Math.max(from, to), change: -1 },
	]);
	turns.sort((one, other) => one.at - other.at);
	let [time, count, since] = [0, 0, 0];
	for (const { at, change } of turns) {
		time += Math.min(count, most) * (at - since);
		count += change;
		since = at;
	}
	return time;
}
