import { GenerationError } from '../api/errors';
import { toResult } from '../async';
import type { Clock, Debug } from '../ports';
import { UnansweredError } from './table';

/** Pauses before a failed call is repeated: half a minute in total. A lock or a restart usually ends within it. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 7_500];
/** No call is repeated later than this after the first failure: a call that hangs may take a minute. */
const PATIENCE_MS = 30_000;

/**
 * Calls the table, and again for half a minute if that may help: its database may be locked, out of connections, or
 * restarting. A stop ends the pauses at once.
 *
 * @throws the error of the last call. A `GenerationError` means that calling again cannot help.
 */
export async function callPatiently<T>(
	{ clock, signal, debug }: { clock: Clock; signal: AbortSignal; debug?: Debug },
	call: (isRepeated: boolean) => Promise<T>,
): Promise<T> {
	let giveUpAt = Infinity;
	for (const pauseMs of PAUSES_MS) {
		const called = await toResult(async () => await call(giveUpAt < Infinity));
		if (called.ok) return called.value;
		const { error } = called;
		if (error instanceof GenerationError || error instanceof UnansweredError) throw error;
		const now = clock.now();
		giveUpAt = Math.min(giveUpAt, now + PATIENCE_MS);
		if (now >= giveUpAt) throw error;
		// Not its message, which may quote a row.
		debug?.('the call of the data table is repeated');
		await clock.sleep(pauseMs, signal);
		if (signal.aborted) throw error;
	}
	return await call(true);
}
