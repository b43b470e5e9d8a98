import { wallClock } from '../http/clock';
import { ageMs, mayBeStarting } from '../record/package-age';
import { dataTablesWork } from '../record/project-table';
import type { Step } from '../step';

/** How often and how long to wait for the data table. */
const TABLE_TRIES = 12;
const TABLE_PAUSE_MS = 5_000;
/** How long n8n may take from the start of its data tables to the end of its crash recovery. */
const RECOVERY_MS = 20_000;
/**
 * How long n8n may take from loading this package to the end of its crash recovery: 8 s on an idle machine, 46 s where the
 * load is ten times the number of processors. After 60 s, n8n looks for executions that are marked as crashed, and takes
 * one that is still awake for dead.
 */
const START_MS = 55_000;
/** If data tables start late, so does the recovery: the pause is this many times `ageMs()` when the tables first work. */
const SLOW = 3;
/**
 * How often to wait for the data table if the step does not need it: data tables may be disabled. These tries must end
 * before n8n first looks for dead executions, after a minute.
 */
const TRIES_WITHOUT_TABLE = 8;

/**
 * Waits until n8n has started and its crash recovery has ended, until the execution is stopped, or until it has waited long
 * enough.
 *
 * n8n wakes executions before its data tables can be used, and before its crash recovery. The recovery marks every
 * unfinished execution as crashed, and restores a sleeping one at once. If a sleeping execution wakes, falls asleep or
 * ends in between, the recovery overwrites it with old data: it stays crashed, or runs twice. An execution that is
 * awake keeps the mark until n8n stores it the next time. Until the recovery has ended, no execution may therefore fall
 * asleep, or end and thereby wake another one.
 *
 * Returns at once if this process loaded the package long ago.
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
