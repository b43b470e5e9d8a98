import type { IExecuteFunctions } from 'n8n-workflow';

import { cancelSignal } from '../execution';
import { wallClock } from '../http/clock';
import { dataTablesWork } from '../record/data-table';

/** How often and how long to wait for the data table. */
const TABLE_TRIES = 12;
const TABLE_PAUSE_MS = 5_000;
/** How long n8n may take from the start of its data tables to the end of its crash recovery. */
const RECOVERY_MS = 20_000;
/** How long n8n may take from loading this package to the end of its crash recovery. */
const START_MS = 30_000;
/** After this time, n8n has started, however busy its machine is. */
const STARTED_MS = 300_000;
/** When this process loaded the package, in milliseconds since the Unix epoch. */
export const loadedAt = wallClock.now();

/**
 * Waits until n8n has started and its crash recovery has ended, or until the execution is stopped.
 *
 * n8n wakes executions before its data tables can be used, and before its crash recovery. The recovery marks every
 * execution that is awake as crashed. What such an execution stores later replaces the mark, but what it stores at the
 * same moment is lost. A wave must not end and thereby wake its supervisor, and a supervisor must not fall asleep,
 * before the recovery has ended.
 *
 * Later, this does nothing: if n8n is killed while a supervisor is awake, its batch ends, so it must sleep again at once.
 */
export async function n8nStarted(context: IExecuteFunctions): Promise<void> {
	const signal = cancelSignal(context);
	if (ageMs() > STARTED_MS) return;
	for (let tries = 1; tries <= TABLE_TRIES; tries++) {
		if (await dataTablesWork(context))
			return await wallClock.sleep(tries > 1 ? RECOVERY_MS : startingMs(), signal);
		await wallClock.sleep(TABLE_PAUSE_MS, signal);
		if (signal.aborted) return;
	}
}

function ageMs(): number {
	return wallClock.now() - loadedAt;
}

/** How long n8n may still be starting. 0 if the clock was set back since it loaded this package. */
function startingMs(): number {
	return ageMs() < 0 ? 0 : Math.max(0, START_MS - ageMs());
}
