import type { Clock } from './ports';

/** The result of a task, as a value. */
export type Attempt<T> = { ok: true; value: T } | { ok: false; error: unknown };

/** Runs a task and returns its result or its error. Never rejects. */
export async function attempt<T>(task: () => Promise<T>): Promise<Attempt<T>> {
	try {
		return { ok: true, value: await task() };
	} catch (error) {
		return { ok: false, error };
	}
}

/** The actions to run for each signal. */
const abortActions = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `action` once when the signal aborts: at once if it already has, never if there is no signal. Each signal
 * gets only one listener: Node.js warns of a leak above ten, and a step may wait for more generations than that.
 *
 * @returns a function that cancels the registration
 */
export function onAbort(signal: AbortSignal | undefined, action: () => void): () => void {
	if (signal?.aborted) action();
	if (!signal || signal.aborted) return () => {};
	const actions = abortActions.get(signal) ?? listenTo(signal);
	actions.add(action);
	return () => actions.delete(action);
}

function listenTo(signal: AbortSignal): Set<() => void> {
	const actions = new Set<() => void>();
	abortActions.set(signal, actions);
	signal.addEventListener('abort', () => actions.forEach((action) => action()), { once: true });
	return actions;
}

/**
 * Settles as `task` does, unless the signal aborts first: then it rejects with the signal's reason. The task
 * itself is not stopped.
 */
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

/** A timer that fires later than this was delayed by a pause of the process, such as a paused container. */
const LATE_MS = 1_000;
/** Extra time to read responses that arrived during such a pause: timers fire before sockets are read. */
const GRACE_MS = 5_000;

/** Resolves after `ms` milliseconds, or as soon as `signal` aborts. A timer that fires late gets the extra time. */
export async function deadline(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
	const due = clock.now() + ms;
	await clock.sleep(ms, signal);
	if (!signal.aborted && clock.now() - due > LATE_MS) await deadline(clock, GRACE_MS, signal);
}

/**
 * Runs a task with a timeout. At the timeout, or when `signal` aborts, the task's own signal aborts.
 *
 * @param ms timeout in milliseconds; if it is not above 0, the task does not start
 * @returns the task's result in an object; `null` if the timeout passed first
 * @throws the error of the task
 */
export async function withTimeout<T>(
	clock: Clock,
	ms: number,
	signal: AbortSignal,
	task: (signal: AbortSignal) => Promise<T>,
): Promise<{ value: T } | null> {
	if (ms <= 0) return null;
	const own = new AbortController();
	const over = new AbortController();
	const forget = onAbort(signal, () => own.abort());
	const late = deadline(clock, ms, over.signal).then(() => null);
	const running = task(own.signal).then((value) => ({ value }));
	try {
		const done = await Promise.race([running, late]);
		if (!done) own.abort();
		return done;
	} finally {
		forget();
		// Without a reason, each one would make a DOMException with a stack trace.
		over.abort('over');
	}
}

/**
 * Runs at most `most` tasks at once, in the order of the calls.
 *
 * @returns a function that takes a task and resolves or rejects as the task does
 */
export function limit(most: number): <T>(task: () => Promise<T>) => Promise<T> {
	let running = 0;
	const waiting: Array<() => void> = [];
	return async (task) => {
		if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
		else running++;
		try {
			return await task();
		} finally {
			const next = waiting.shift();
			// The place goes directly to the next task, so that no new call takes it first.
			if (next) next();
			else running--;
		}
	};
}

/**
 * Group commit: calls made while a group is running are carried out together as the next group.
 *
 * @param carryOut processes a group and returns the results in the same order; if it rejects, all calls of the group
 * reject
 * @param ready resolves when a group may start, and never rejects; by default, calls made in the same tick join
 * @returns a function that adds one entry to the next group
 */
export function batched<T, R>(
	carryOut: (group: T[]) => Promise<R[]>,
	ready: () => Promise<unknown> = async () => await Promise.resolve(),
): (one: T) => Promise<R> {
	let next: T[] = [];
	let results: Promise<R[]> | null = null;
	let running: Promise<unknown> = Promise.resolve();

	const startNext = async (): Promise<R[]> => {
		await ready();
		const group = next;
		next = [];
		results = null;
		return await carryOut(group);
	};

	return async (one) => {
		const index = next.push(one) - 1;
		if (results === null) {
			results = running.then(startNext);
			running = results.catch(() => undefined);
		}
		return (await results)[index];
	};
}

/** The end of the last task, by shared object and key. */
const locks = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Runs tasks with the same key one at a time, in order of arrival. Tasks with other keys are not delayed.
 *
 * @param shared the object that the tasks have in common
 * @returns the result of the task
 * @throws the error of the task
 */
export async function withLock<T>(shared: object, key: string, task: () => Promise<T>): Promise<T> {
	const ends = locks.get(shared) ?? new Map<string, Promise<unknown>>();
	locks.set(shared, ends);
	const running = (ends.get(key) ?? Promise.resolve()).then(task);
	const end = running.catch(() => undefined);
	ends.set(key, end);
	try {
		return await running;
	} finally {
		if (ends.get(key) === end) ends.delete(key);
	}
}
