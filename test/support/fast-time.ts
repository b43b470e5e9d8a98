import { onAbort } from '../../client/async';
import { wallClock } from '../../nodes/shared/http/clock';
import { realTime } from '../../sandbox/basics/clock';

interface Sleeper {
	isDue: () => boolean;
	wake: () => void;
}

/** Time advances once per turn of the event loop, by at most this many milliseconds of wall-clock time. */
const LONGEST_TURN_MS = 2;

/**
 * A clock for the nodes and the sandbox that runs faster than the wall clock by a factor. A minute of polling has as
 * many status checks as in real time. On a busy machine, a turn of the event loop takes longer, but this clock does not
 * advance further in it. A request and its response take a fixed number of turns, so they always take about the same
 * time.
 */
export class FastTime {
	private time = Date.now();
	/** Wall-clock time in milliseconds, with each turn counted up to `LONGEST_TURN_MS`. */
	private steady = 0;
	private movedAt = performance.now();
	private readonly sleepers = new Set<Sleeper>();
	private readonly ticker = setInterval(() => this.tick(), 1).unref();

	/** Replaces the clock of the nodes and the delays of the sandbox for the rest of the test file. */
	constructor(private factor: number) {
		jest.spyOn(wallClock, 'now').mockImplementation(this.now);
		jest.spyOn(wallClock, 'sleep').mockImplementation(this.sleep);
		jest.spyOn(realTime, 'sleep').mockImplementation(async (ms, signal) => {
			const at = this.steady + ms;
			await this.until(() => at <= this.steady, signal);
		});
	}

	/** Returns the current time in milliseconds since the Unix epoch. */
	readonly now = (): number => Math.floor(this.time + this.unmoved() * this.factor);

	/** Waits `ms` milliseconds on this clock, or until the signal aborts. */
	readonly sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
		const at = this.now() + ms;
		await this.until(() => at <= this.time, signal);
	};

	/** Advances the time at once. */
	leap(seconds: number): void {
		this.time += seconds * 1000;
	}

	/** Changes the speed of the clock from now on. A factor of 1 is real time. */
	setPace(factor: number): void {
		this.move();
		this.factor = factor;
	}

	/** Stops the clock. */
	stop(): void {
		clearInterval(this.ticker);
	}

	private async until(isDue: () => boolean, signal?: AbortSignal): Promise<void> {
		if (signal?.aborted) return;
		await new Promise<void>((resolve) => {
			const wake = () => {
				this.sleepers.delete(sleeper);
				forget?.();
				resolve();
			};
			const sleeper = { isDue, wake };
			const forget = signal && onAbort(signal, wake);
			this.sleepers.add(sleeper);
		});
	}

	/** Returns the wall-clock milliseconds since the last move, up to `LONGEST_TURN_MS`. */
	private unmoved(): number {
		return Math.min(performance.now() - this.movedAt, LONGEST_TURN_MS);
	}

	private move(): void {
		const ms = this.unmoved();
		this.steady += ms;
		this.time += ms * this.factor;
		this.movedAt = performance.now();
	}

	private tick(): void {
		this.move();
		for (const { isDue, wake } of [...this.sleepers]) if (isDue()) wake();
	}
}
