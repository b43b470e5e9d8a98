/** Who waits for each signal. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `action` once when the signal aborts. However many wait for a signal, it gets one listener only: platforms warn
 * of a leak from eleven on, and a step has more than ten generations to wait for.
 *
 * @returns ends the waiting
 */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
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
