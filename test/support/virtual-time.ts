import { onAbort } from '../../client/abort';
import type { Clock } from '../../client/ports';

interface Timer {
	at: number;
	wake: () => void;
}

/**
 * A clock on which time passes only when everything waits for it: hours of polling run in milliseconds, always in the
 * same order.
 */
export class VirtualTime implements Clock {
	private timers: Timer[] = [];

	/** @param start milliseconds since the Unix epoch */
	constructor(private time = Date.UTC(2026, 0, 1)) {}

	now(): number {
		return this.time;
	}

	async sleep(ms: number, signal?: AbortSignal): Promise<void> {
		if (signal?.aborted) return;
		await new Promise<void>((resolve) => {
			const wake = () => {
				this.timers = this.timers.filter((other) => other !== timer);
				forget?.();
				resolve();
			};
			const timer: Timer = { at: this.time + Math.max(0, ms), wake };
			this.timers.push(timer);
			const forget = signal && onAbort(signal, wake);
		});
	}

	/** Calls `action` when the time has come. */
	at(ms: number, action: () => void): void {
		void this.sleep(ms - this.time).then(action);
	}

	/**
	 * Lets time pass until `task` has ended.
	 *
	 * @throws what the task throws; an Error when it waits for something that no timer will bring
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

	private earliest(): Timer | undefined {
		return this.timers.reduce<Timer | undefined>(
			(first, timer) => (first === undefined || timer.at < first.at ? timer : first),
			undefined,
		);
	}
}

/** Until everything that can go on without time passing has done so. */
async function settled(): Promise<void> {
	await new Promise((resolve) => setImmediate(resolve));
}
