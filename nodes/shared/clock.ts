import { sleep } from 'n8n-workflow';

import { onAbort } from '../../client/basics/abort';
import type { Clock } from '../../client/basics/ports';

/** The longest that a timer of Node.js can wait, in milliseconds: with more it does not wait at all. */
const LONGEST = 2 ** 31 - 1;

/**
 * The wall clock. n8n's `sleep` ends on abort in newer releases only (and then rejects), so the signal is listened to
 * here as well.
 */
export const wallClock: Clock = {
	now: () => Date.now(),
	sleep: async (wanted, signal) => {
		const ms = Math.min(wanted, LONGEST);
		if (!signal) return await sleep(ms);
		if (signal.aborted) return;
		const own = new AbortController();
		await new Promise<void>((resolve) => {
			const forget = onAbort(signal, () => own.abort());
			const wake = () => {
				forget();
				resolve();
			};
			own.signal.addEventListener('abort', wake, { once: true });
			sleep(ms, own.signal).then(wake, wake);
		});
	},
};

/**
 * The clock of what ends a request. Its timers keep no process alive, and tests that speed up the wall clock leave it
 * alone: requests to a real server take as long as ever.
 */
export const requestClock: Clock = {
	now: () => Date.now(),
	sleep: async (ms, signal) =>
		await new Promise<void>((resolve) => {
			const forget = onAbort(AbortSignal.timeout(ms), resolve);
			onAbort(signal, () => {
				forget();
				resolve();
			});
		}),
};
