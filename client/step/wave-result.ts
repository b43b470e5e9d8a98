import { decideNextTry, explainTries } from '../jobs/job';
import type { Row } from '../jobs/row';
import type { Outcome } from '../jobs/outcome';
import type { TableJournal } from '../orders/table-journal';
import type { PipelineResult } from './pipeline';
import { isOutage, type GenerationError } from '../api/errors';
import { unseen } from '../api/generation';
import { isFinalState } from '../api/states';
import { isBeyondLimit } from '../orders/spend-guard';
import type { Shift } from './shift';
import {
	storedKeyOf,
	withChanges,
	type ItemState,
	type ItemStates,
	type WavePlan,
	type WaveState,
} from './wave-plan';

/** What a wave writes into the record when it has run, and what it reports to the next one. */

/** Writes into the record how the generations of earlier waves ended. */
export function recordEnds(
	record: TableJournal,
	{ jobs, sources }: WavePlan,
	outcomes: Array<Outcome<unknown>>,
): void {
	outcomes.forEach((outcome, index) => {
		const ended = endOf(outcome);
		if (jobs[index].kind === 'collect' && ended) record.ended(storedKeyOf(sources[index]), ended);
	});
}

/** Returns the rows that a wave, or an earlier one, could not write. */
function stillMissing(
	record: TableJournal,
	{ jobs, sources, missing }: WavePlan,
	outcomes: Array<Outcome<unknown>>,
): WavePlan['missing'] {
	const left = { ...missing };
	const unrecorded = record.unrecorded;
	sources.forEach((job, index) => {
		const row = unrecorded.get(storedKeyOf(job)) ?? left[job.itemIndex];
		if (!row) return;
		const ended = jobs[index].kind === 'collect' ? endOf(outcomes[index]) : null;
		left[job.itemIndex] = { ...row, ...(ended && { status: ended.status }) };
	});
	return left;
}

/** The result of a wave, with what it settled and tried itself. */
export interface WaveResult extends WaveState {
	/** True if no wave follows: all items have ended, or an error ended the batch. The results are then fetched. */
	over: boolean;
	/** When the next wave should begin, in milliseconds since the Unix epoch; `null`: at once. */
	nextAt: number | null;
}

/** The pause after an outage: at least this long, and at least this part of the longest wait so far. */
const OUTAGE = { leastMs: 120_000, part: 0.1 };

/**
 * Returns the outcome of a job. Until the deadline of its item, an outage ends nothing: the job counts as stopped, and the
 * next wave goes on with it. Any other outcome is returned as it is, as the same object.
 */
function unlessDown(
	{ jobs, state }: WavePlan,
	index: number,
	outcome: Outcome<unknown>,
	now: number,
): Outcome<unknown> {
	if (outcome.kind !== 'error' || !isOutage(outcome.error)) return outcome;
	const { generation } = outcome.error;
	const job = jobs[index];
	// A job that is watched since this wave has not reached its deadline: it would have timed out.
	const watchedSince = (job.kind === 'collect' && job.waitingSinceMs) || now;
	const since = generation === null ? (state.items[job.itemIndex]?.downSince ?? now) : watchedSince;
	if (now < since + job.timeoutMs) return { kind: 'stopped', generation };
	if (generation === null || job.onTimeout === 'error') return outcome;
	// This is no error: fetching the results checks the status a last time.
	return {
		kind: 'done',
		generation: { ...unseen(generation.id).item, ...generation },
		output: null,
	};
}

/** When the wave after an outage begins. */
function afterOutage({ jobs }: WavePlan, { nextShiftAt }: Shift, now: number): number {
	const waits = jobs.map((job) => (job.kind === 'collect' ? now - (job.waitingSinceMs ?? now) : 0));
	const pauseMs = Math.max(OUTAGE.leastMs, OUTAGE.part * Math.max(...waits));
	return Math.max(nextShiftAt ?? 0, now + pauseMs);
}

/**
 * Returns the result of a wave.
 *
 * @param record with all its writes finished; `null` if no job of the wave has a key
 * @param terms `rests`: the batch sleeps after the wave. Otherwise an error that persists is the end of its item
 * @param now milliseconds since the Unix epoch
 */
export function waveResult(
	plan: WavePlan,
	{ outcomes: ends, stats }: PipelineResult<unknown>,
	shift: Shift,
	record: TableJournal | null,
	{ stopOnError, rests }: { stopOnError: boolean; rests: boolean },
	now: number,
): WaveResult {
	const { jobs, sources, left, state } = plan;
	const outcomes = rests ? ends.map((end, index) => unlessDown(plan, index, end, now)) : ends;
	const hasOutage = outcomes.some((outcome, index) => outcome !== ends[index]);
	const items: ItemStates = { ...plan.reused };
	let ended = 0;
	let again = false;
	let failed = false;
	outcomes.forEach((outcome, index) => {
		const { itemIndex, kind } = jobs[index];
		const change: ItemState = {
			...items[itemIndex],
			...generationAfter(state.items[itemIndex], outcome, now),
			...downAfter(state.items[itemIndex], outcome, outcome !== ends[index], now),
		};
		if (outcome.kind === 'error') {
			// A generation of an earlier wave failed. The next wave may create it again.
			const source = kind === 'collect' ? sources[index] : null;
			if (source && decideNextTry(source, outcome.error) !== 'stop') again = true;
			else {
				const error = source ? explainTries(source, outcome.error) : outcome.error;
				change.end = (error as GenerationError).fields;
				failed ||= !isBeyondLimit(change.end);
			}
		}
		// It is completed, it timed out, or its item does not wait.
		if (outcome.kind === 'done') change.end = null;
		if (change.end !== undefined) ended++;
		const { tried } = sources[index];
		if (tried && tried.failed + tried.fallbacks > 0) change.tried = tried;
		items[itemIndex] = change;
	});
	return {
		items: withRows(
			state.items,
			items,
			record ? stillMissing(record, plan, outcomes) : plan.missing,
		),
		spent: stats.spent,
		resubmitted: state.resubmitted + stats.resubmitted,
		failed: [...new Set([...state.failed, ...outcomes.flatMap(failedIn)])],
		earlier: state.earlier,
		over: ended === left || (failed && stopOnError),
		nextAt: hasOutage ? afterOutage(plan, shift, now) : again ? null : shift.nextShiftAt,
		durations: shift.lastDurations,
	};
}

/** The generation of an item after a wave, if that is another one than before. */
function generationAfter(
	before: ItemState | undefined,
	outcome: Outcome<unknown>,
	now: number,
): ItemState {
	const generation = outcome.kind === 'error' ? null : outcome.generation;
	const known = before?.generation ?? null;
	if (generation === null) return known ? { generation: null } : {};
	return generation.id === known?.id ? {} : { generation: { id: generation.id, since: now } };
}

/**
 * Since when the service has been down for an item that could not be sent.
 *
 * @param isDown true if this wave could not send it
 */
function downAfter(
	before: ItemState | undefined,
	outcome: Outcome<unknown>,
	isDown: boolean,
	now: number,
): ItemState {
	const since = before?.downSince ?? null;
	const isLeft = outcome.kind === 'stopped' && outcome.generation === null;
	if (!isLeft) return since === null ? {} : { downSince: null };
	return isDown && since === null ? { downSince: now } : {};
}

/** Adds the rows that are not in the table, and removes those that are. */
function withRows(
	before: ItemStates,
	changes: ItemStates,
	missing: WavePlan['missing'],
): ItemStates {
	const written = Object.entries(before).flatMap(([index, { row }]) =>
		row ? [[index, null]] : [],
	);
	const rows = { ...Object.fromEntries(written), ...missing } as Record<number, Row | null>;
	const changed = Object.entries(rows).map(([index, row]) => [index, { row }]);
	return withChanges(changes, Object.fromEntries(changed) as ItemStates);
}

/** The ID of the generation whose failure is the outcome. */
function failedIn(outcome: Outcome<unknown>): string[] {
	const end = endOf(outcome);
	return end?.status === 'failed' ? [end.id] : [];
}

/** The final state of a generation; `null` if it has not ended. */
function endOf(outcome: Outcome<unknown>): { id: string; status: string } | null {
	const { generation } = outcome.kind === 'error' ? outcome.error : outcome;
	const { id, status = null } = generation ?? {};
	return id && status !== null && isFinalState(status) ? { id, status } : null;
}
