import { GenerationError } from '../api/errors';
import { toResult } from '../async';
import type { Clock, Debug } from '../ports';
import { UnansweredError } from './table';

/** A call that still fails this long after its first failure is given up. A database lock or restart usually ends sooner. */
const PATIENCE_MS = 30_000;
/** The first pause before a failed call is repeated, and the longest. Each pause is twice the one before. */
const PAUSE_MS = { first: 500, longest: 5_000 };

/**
 * Calls the table, and repeats a failed call for half a minute if that may help: n8n's database may be locked, out of
 * connections, or restarting. After a stop, no failed call is repeated.
 *
 * @throws the error of the last call. A `GenerationError` means that calling again cannot help.
 */
export async function callPatiently<T>(
	{ clock, signal, debug }: { clock: Clock; signal: AbortSignal; debug?: Debug },
	call: (isRepeated: boolean) => Promise<T>,
): Promise<T> {
	let giveUpAt = Infinity;
	for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS.longest)) {
		const called = await toResult(async () => await call(giveUpAt < Infinity));
		if (called.ok) return called.value;
		const { error } = called;
		if (error instanceof GenerationError || error instanceof UnansweredError) throw error;
		giveUpAt = Math.min(giveUpAt, clock.now() + PATIENCE_MS);
		if (clock.now() >= giveUpAt) throw error;
		// The message of the error is not logged, because it may quote a row.
		debug?.('the call of the data table is repeated');
		await clock.sleep(pauseMs, signal);
		if (signal.aborted) throw error;
	}
}
