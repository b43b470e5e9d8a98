import { setTimeout as timeout } from 'node:timers/promises';

/** Where the service reads the time. Tests pass a virtual one. */
export interface Clock {
	/** Milliseconds since 1970, UTC. */
	now(): number;
}

/** The machine's own clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** Delays that are ordered in milliseconds of the machine's clock, whatever clock the service has. */
export const realTime = {
	/** Ends after `ms` milliseconds, or as soon as the signal aborts. Never rejects. */
	async sleep(ms: number, signal?: AbortSignal): Promise<void> {
		await timeout(ms, undefined, { signal, ref: false }).catch(() => undefined);
	},
};
