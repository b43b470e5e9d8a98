import type { Random } from './ports';

/** When to look at each generation next. One schedule serves all generations of a step. */
export interface PollSchedule {
	/**
	 * @param poll how many times this generation has been looked at, and for how long it has run
	 * @returns milliseconds from now to the next look
	 */
	delay(poll: { looks: number; ageMs: number }): number;
	/** A generation has come to its end after about `ms` milliseconds. */
	learn(ms: number): void;
}

/** Every `intervalMs`, with a little jitter at first so that generations submitted together are not polled together. */
export function steadySchedule(intervalMs: number, random: Random): PollSchedule {
	return {
		delay: ({ looks }) => (looks === 0 ? intervalMs * (1 + 0.1 * random()) : intervalMs),
		learn: () => {},
	};
}
