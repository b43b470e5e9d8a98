/** Where the service reads the time. Tests pass a virtual one. */
export interface Clock {
	/** Milliseconds since 1970, UTC. */
	now(): number;
}

/** The machine's own clock. */
export const systemClock: Clock = { now: () => Date.now() };
