import { wallClock } from '../http/clock';

/** This long after it has loaded the package, n8n has certainly started, however busy its machine is. */
const STARTED_MS = 300_000;

/** When this process loaded the package, in milliseconds since the Unix epoch. */
export const loaded = { at: wallClock.now() };

/** How long ago this process loaded the package. */
export function ageMs(): number {
	return wallClock.now() - loaded.at;
}

/** True if n8n may still be starting: it wakes executions before its data tables can be used. */
export function mayBeStarting(): boolean {
	return ageMs() <= STARTED_MS;
}
