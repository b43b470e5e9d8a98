import { wallClock } from '../http/clock';
import { ageMs, mayBeStarting } from '../record/package-age';
import { dataTablesWork } from '../record/project-table';
import type { Step } from '../step';

/** Maximum number of checks whether n8n's data tables work, and the pause after a failed check. */
const TABLE_TRIES = 12;
const TABLE_PAUSE_MS = 5_000;
/** How long n8n may take from the start of its data tables to the end of its crash recovery. */
const RECOVERY_MS = 20_000;
/**
 * How long n8n may take from loading this package to the end of its crash recovery: 8 s on an idle machine, 46 s where the
 * load is ten times the number of processors. The wait must end before 60 s: at that time, n8n gives up on executions still
 * marked as crashed. `n8nStarted` explains that mark.
 */
const START_MS = 55_000;
/** If the tables work at the first check, the recovery is given `ageMs()` times this: n8n may have started slowly. */
const SLOW = 3;
/**
 * Maximum number of checks if the step does not need the data tables. If data tables are disabled, all checks fail. The wait
 * must still end before n8n first looks for dead executions, a minute after its start.
 */
const TRIES_WITHOUT_TABLE = 8;

/**
 * Waits until n8n has started and its crash recovery has ended. The wait ends earlier if the execution is stopped, or after
 * a maximum number of checks. Returns at once if this process loaded the package long ago.
 *
 * n8n wakes executions before its data tables work, and before its crash recovery. The recovery marks every unfinished
 * execution as crashed, and then restores those that were asleep. An execution that is awake stays marked until n8n stores
 * it the next time.
 *
 * If an execution falls asleep or ends during the recovery, or wakes because another one has ended, the recovery may
 * overwrite it with old data. It then stays crashed, or runs twice.
 *
 * @param needsTable true if the execution can do nothing without a data table
 */
export async function n8nStarted(helper: Step, needsTable: boolean): Promise<void> {
	const mostTries = needsTable ? TABLE_TRIES : TRIES_WITHOUT_TABLE;
	const signal = helper.signal;
	if (!mayBeStarting()) return;
	for (let tries = 1; tries <= mostTries; tries++) {
		if (await dataTablesWork(helper)) {
			const age = ageMs();
			const slowMs = Math.min(Math.max(RECOVERY_MS, SLOW * age), START_MS - age);
			return await wallClock.sleep(tries > 1 ? RECOVERY_MS : Math.max(0, slowMs), signal);
		}
		await wallClock.sleep(TABLE_PAUSE_MS, signal);
		if (signal.aborted) return;
	}
}
