/** A time span, in milliseconds since the Unix epoch. */
export interface Span {
	from: number;
	to: number;
}

/**
 * Returns how well the slots of an account were used: the time during which slots were busy, divided by the time
 * during which they could have been. At any moment, as many slots could be busy as there were items, up to the limit.
 *
 * @param running one span for each generation, from its creation to its end
 * @param wanted one span for each item, from its arrival until the service has nothing left to do for it
 */
export function slotUse(running: Span[], wanted: Span[], limit: number): number {
	return timeOf(running, limit) / timeOf(wanted, limit);
}

/** Returns the total duration of the spans in milliseconds. At any moment, at most `most` spans count. */
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
