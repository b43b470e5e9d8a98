import { onAbort } from '../../client/async';
import { wallClock } from '../../nodes/shared/http/clock';
import { realTime } from '../../sandbox/basics/clock';

interface Sleeper {
	isDue: () => boolean;
	wake: () => void;
}

/** Time moves once in a turn of the event loop, by at most this many milliseconds of the wall clock. */
const LONGEST_TURN_MS = 2;

/**
 * Time that runs a number of times as fast, for the nodes and the sandbox. A minute of polling has as many status checks
 * as ever. On a busy machine each turn of the event loop takes longer, but time does not run further in it: a request
 * and its answer, which take so many turns, always take about the same time.
 */
export class FastTime {
	private time = Date.now();
	/** Milliseconds of the wall clock, without what turns were too long. */
	private steady = 0;
	private movedAt = performance.now();
	private readonly sleepers = new Set<Sleeper>();
	private readonly ticker = setInterval(() => this.tick(), 1).unref();

	/** Replaces the clock of the nodes, and the delays of the sandbox, for as long as the test file lasts. */
	constructor(private factor: number) {
		jest.spyOn(wallClock, 'now').mockImplementation(this.now);
		jest.spyOn(wallClock, 'sleep').mockImplementation(this.sleep);
		jest.spyOn(realTime, 'sleep').mockImplementation(async (ms, signal) => {
			const at = this.steady + ms;
			await this.until(() => at <= this.steady, signal);
		});
	}

	/** Milliseconds since 1970. */
	readonly now = (): number => Math.floor(this.time + this.unmoved() * this.factor);

	/** Ends after `ms` milliseconds of this time, or as soon as the signal aborts. */
	readonly sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
		const at = this.now() + ms;
		await this.until(() => at <= this.time, signal);
	};

	/** `AbortSignal.timeout` for bounds in milliseconds of the wall clock: no turn counts for more than it may. */
	readonly timeout = (ms: number): AbortSignal => {
		const late = new AbortController();
		const at = this.steady + ms;
		void this.until(() => at <= this.steady).then(() =>
			late.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
		);
		return late.signal;
	};

	/** So much time has passed at once. */
	leap(seconds: number): void {
		this.time += seconds * 1000;
	}

	/** Goes on from here at another pace: 1 is that of the wall. */
	setPace(factor: number): void {
		this.move();
		this.factor = factor;
	}

	/** Time stands still from here on. */
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

	/** Milliseconds of the wall clock that count, and by which time has not moved yet. */
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
