/** The actions to run for each signal. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `action` once when the signal aborts: at once if it already has, never if there is no signal. Each signal
 * gets only one listener. Platforms warn of a leak from eleven on, and a step may wait for more generations.
 *
 * @returns a function that cancels the registration
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
