import { wallClock } from '../http/clock';

/** When this time has passed since n8n loaded the package, n8n has certainly started, even on a very busy machine. */
const STARTED_MS = 300_000;

/** When this process loaded the package, in milliseconds since the Unix epoch. */
export const loaded = { at: wallClock.now() };

/** How long ago this process loaded the package, in milliseconds. */
export function ageMs(): number {
	return wallClock.now() - loaded.at;
}

/** True if n8n may still be starting. n8n already wakes executions then, but its data tables may not work yet. */
export function mayBeStarting(): boolean {
	return ageMs() <= STARTED_MS;
}
