import type { Clock } from './ports';

export type Result<T> = { ok: true; value: T } | { ok: false; error: unknown };

/** Runs a task and returns its value or its error. Never rejects. */
export async function toResult<T>(task: () => Promise<T>): Promise<Result<T>> {
	try {
		return { ok: true, value: await task() };
	} catch (error) {
		return { ok: false, error };
	}
}

/** The actions that `onAbort` runs, by signal. */
const abortActions = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `action` once when the signal aborts, or immediately if the signal is already aborted. Returns a function that
 * unregisters `action`. All actions of a signal share one listener, because Node.js warns of a leak above ten listeners.
 */
export function onAbort(signal: AbortSignal | undefined, action: () => void): () => void {
	if (signal?.aborted) action();
	if (!signal || signal.aborted) return () => {};
	const actions = abortActions.get(signal) ?? listenTo(signal);
	actions.add(action);
	return () => actions.delete(action);
}

/** Not inlined into `onAbort`: a listener created there would keep the first `action` in memory, even once unregistered. */
function listenTo(signal: AbortSignal): Set<() => void> {
	const actions = new Set<() => void>();
	abortActions.set(signal, actions);
	signal.addEventListener('abort', () => actions.forEach((action) => action()), { once: true });
	return actions;
}

/** Settles as `task` does. If the signal aborts first, rejects with the signal's reason; the task itself goes on. */
export async function raceAbort<T>(signal: AbortSignal, task: Promise<T>): Promise<T> {
	let forget = () => {};
	const aborted = new Promise<never>((_, reject) => {
		forget = onAbort(signal, () => reject(signal.reason as Error));
	});
	try {
		return await Promise.race([task, aborted]);
	} finally {
		forget();
	}
}

/** A timer that fires this late was delayed by a pause of the process, such as a paused container. */
const LATE_TIMER_MS = 1_000;
/** Extra time to read responses that arrived while the process was paused: timers fire before sockets are read. */
const GRACE_MS = 5_000;

/** Resolves after `ms` milliseconds, or as soon as `signal` aborts. If the timer fires late, waits `GRACE_MS` more. */
export async function deadline(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
	const due = clock.now() + ms;
	await clock.sleep(ms, signal);
	if (!signal.aborted && clock.now() - due > LATE_TIMER_MS) await deadline(clock, GRACE_MS, signal);
}

/**
 * Settles as the task does, or returns `null` if the timeout passes first. The signal passed to the task aborts on the
 * timeout, and when `signal` aborts. With a timeout of 0 or less, returns `null` without starting the task.
 */
export async function withTimeout<T>(
	clock: Clock,
	ms: number,
	signal: AbortSignal,
	task: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
	if (ms <= 0) return null;
	const taskAbort = new AbortController();
	const ended = new AbortController();
	const forget = onAbort(signal, () => taskAbort.abort());
	const timeout = deadline(clock, ms, ended.signal).then(() => null);
	try {
		const result = await Promise.race([task(taskAbort.signal), timeout]);
		if (result === null) taskAbort.abort();
		return result;
	} finally {
		forget();
		// An abort without a reason would create a DOMException with a stack trace, which takes time.
		ended.abort('settled');
	}
}

/** Returns a function that runs tasks in order, at most `most` at once. Each call settles as the task passed to it does. */
export function limit(most: number) {
	let free = most;
	const waiting: Array<() => void> = [];
	return async <T>(task: () => Promise<T>): Promise<T> => {
		if (free > 0) free--;
		else await new Promise<void>((resolve) => waiting.push(resolve));
		try {
			return await task();
		} finally {
			const next = waiting.shift();
			// The place goes directly to the next task, so that no new call takes it first.
			if (next) next();
			else free++;
		}
	};
}

/** The locks, by shared object and key. Each is a `limit` of one task. */
const locks = new WeakMap<object, Map<string, ReturnType<typeof limit>>>();

/** Runs tasks with the same object and key one at a time, in order of arrival. Settles as the task does. */
export async function withLock<T>(shared: object, key: string, task: () => Promise<T>): Promise<T> {
	const byKey = locks.get(shared) ?? new Map<string, ReturnType<typeof limit>>();
	const run = byKey.get(key) ?? limit(1);
	locks.set(shared, byKey.set(key, run));
	return await run(task);
}

/**
 * Group commit: calls made while a group is running are carried out together as the next group.
 *
 * @param carryOut returns the results in the order of the group; if it rejects, all calls of the group reject
 * @param ready resolves when a group may start, and never rejects
 */
export function batched<T, R>(
	carryOut: (group: T[]) => Promise<R[]>,
	ready: () => Promise<unknown>,
): (one: T) => Promise<R> {
	let next: T[] = [];
	let results: Promise<R[]> = Promise.resolve([]);
	const startNext = async () => {
		await ready();
		const group = next;
		next = [];
		return await carryOut(group);
	};
	return async (one) => {
		const index = next.push(one) - 1;
		// The first call of a group schedules that group to start once the previous group has ended.
		if (index === 0) results = results.then(startNext, startNext);
		return (await results)[index];
	};
}
