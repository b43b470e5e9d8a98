/** Who waits for each signal. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `action` once when the signal aborts: at once where it has, never where there is none. However many wait for a
 * signal, it gets one listener only: platforms warn of a leak from eleven on, and a step has more than ten generations to
 * wait for.
 *
 * @returns ends the waiting
 */
export function onAbort(signal: AbortSignal | undefined, action: () => void): () => void {
	if (signal?.aborted) action();
	if (!signal || signal.aborted) return () => {};
	const actions = waiting.get(signal) ?? listenTo(signal);
	actions.add(action);
	return () => actions.delete(action);
}

function listenTo(signal: AbortSignal): Set<() => void> {
	const actions = new Set<() => void>();
	waiting.set(signal, actions);
	signal.addEventListener('abort', () => actions.forEach((action) => action()), { once: true });
	return actions;
}
