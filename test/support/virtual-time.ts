import { onAbort } from '../../client/async';
import type { Clock } from '../../client/ports';

interface Timer {
	at: number;
	/** Ends the wait. Called at most once. */
	wake: () => void;
	/** True once it was woken, by time or by its signal. */
	over: boolean;
}

/**
 * A clock that advances only when everything else is waiting for it. Hours of polling run in milliseconds, always in
 * the same order. Like the wall clock, it uses whole milliseconds.
 */
export class VirtualTime implements Clock {
	/** Latest first, so that the next timer is the last element. Timers for the same moment run in creation order. */
	private readonly timers: Timer[] = [];

	/** @param start milliseconds since the Unix epoch */
	constructor(private time = Date.UTC(2026, 0, 1)) {}

	now(): number {
		return this.time;
	}

	async sleep(ms: number, signal?: AbortSignal): Promise<void> {
		if (signal?.aborted) return;
		await new Promise<void>((resolve) => {
			const timer: Timer = {
				at: this.time + Math.ceil(Math.max(0, ms)),
				over: false,
				wake: () => {
					timer.over = true;
					forget?.();
					resolve();
				},
			};
			const forget = signal && onAbort(signal, timer.wake);
			this.insert(timer);
		});
	}

	/** Calls `action` at the given time. */
	at(ms: number, action: () => void): void {
		void this.sleep(ms - this.time).then(action);
	}

	/**
	 * Advances the time until `task` has ended.
	 *
	 * @throws what the task throws, or an Error if the task waits for something that does not depend on a timer
	 */
	async run<T>(task: Promise<T>): Promise<T> {
		let ended = false;
		const end = () => (ended = true);
		task.then(end, end);
		for (;;) {
			await settled();
			if (ended) return await task;
			const next = this.earliest();
			if (!next) throw new Error('The task waits for something that no timer will bring');
			this.time = Math.max(this.time, next.at);
			next.wake();
		}
	}

	private insert(timer: Timer): void {
		let [low, high] = [0, this.timers.length];
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.timers[middle].at > timer.at) low = middle + 1;
			else high = middle;
		}
		this.timers.splice(low, 0, timer);
	}

	private earliest(): Timer | undefined {
		let timer = this.timers.pop();
		while (timer?.over) timer = this.timers.pop();
		return timer;
	}
}

/** Waits until everything that can continue without time passing has done so. */
async function settled(): Promise<void> {
	await new Promise((resolve) => setImmediate(resolve));
}
