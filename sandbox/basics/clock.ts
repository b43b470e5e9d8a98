import { setTimeout as timeout } from 'node:timers/promises';

/** The service's source of time. Tests pass a virtual clock. */
export interface Clock {
	/** Milliseconds since 1970, UTC. */
	now(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** Delays in real milliseconds, even if the service uses a virtual clock. */
export const realTime = {
	/** Resolves after `ms` milliseconds, or as soon as the signal aborts. Never rejects. */
	async sleep(ms: number, signal?: AbortSignal): Promise<void> {
		await timeout(ms, undefined, { signal, ref: false }).catch(() => undefined);
	},
};
