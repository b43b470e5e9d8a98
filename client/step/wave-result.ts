import { decideNextTry, explainTries, type CreateJob, type Tried } from '../job';
import type { Outcome } from '../outcome';
import type { TableJournal } from '../orders/table-journal';
import type { PipelineResult } from '../pipeline';
import { isOutage, type GenerationError } from '../api/errors';
import { unseen } from '../api/generation';
import { isBeyondLimit } from '../spend-guard';
import type { Shift } from './shift';
import { storedKeyOf, type WavePlan, type WaveState } from './wave-plan';

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
function stillUnrecorded(
	record: TableJournal,
	{ jobs, sources, unrecorded }: WavePlan,
	outcomes: Array<Outcome<unknown>>,
): WaveState['unrecorded'] {
	const left = { ...unrecorded };
	const missing = record.unrecorded;
	sources.forEach((job, index) => {
		const row = missing.get(storedKeyOf(job)) ?? left[job.itemIndex];
		if (!row) return;
		const ended = jobs[index].kind === 'collect' ? endOf(outcomes[index]) : null;
		left[job.itemIndex] = { ...row, ...(ended && { status: ended.status }) };
	});
	return left;
}

/** The result of a wave, with what it settled and tried itself. */
export interface WaveResult extends WaveState {
	/** When the next wave should begin, in milliseconds since the Unix epoch; `null`: at once. */
	nextAt: number | null;
}

/** The pause after an outage: at least this long, and at least this part of the longest wait so far. */
const OUTAGE = { leastMs: 120_000, part: 0.1 };

interface WaveSettings {
	/** True if the first error ends the batch. */
	stopOnError: boolean;
	/** True if the batch sleeps after the wave. Otherwise an error that persists is the end of its item. */
	rests: boolean;
}

/**
 * Returns the outcome of a job. Until the deadline of its item, an outage ends nothing: the job counts as stopped, and the
 * next wave goes on with it.
 */
function unlessDown(
	{ jobs, down }: WavePlan,
	index: number,
	outcome: Outcome<unknown>,
	now: number,
): Outcome<unknown> {
	if (outcome.kind !== 'error' || !isOutage(outcome.error)) return outcome;
	const { generation } = outcome.error;
	const job = jobs[index];
	// A job that is watched since this wave has not reached its deadline: it would have timed out.
	const watchedSince = (job.kind === 'collect' && job.waitingSinceMs) || now;
	const since = generation === null ? (down[job.itemIndex] ?? now) : watchedSince;
	if (now < since + job.timeoutMs) return { kind: 'stopped', generation };
	if (generation === null || job.onTimeout === 'error') return outcome;
	// The last status check is that of the results.
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

/** Since when the service has been down for each item that could not be sent. */
function downAfter(
	{ jobs, down }: WavePlan,
	ends: Array<Outcome<unknown>>,
	outcomes: Array<Outcome<unknown>>,
	now: number,
): WaveState['down'] {
	const after = { ...down };
	outcomes.forEach((outcome, index) => {
		const { itemIndex } = jobs[index];
		const isLeft = outcome.kind === 'stopped' && outcome.generation === null;
		if (!isLeft) delete after[itemIndex];
		else if (outcome !== ends[index]) after[itemIndex] ??= now;
	});
	return after;
}

/**
 * Returns the result of a wave.
 *
 * @param record with all its writes finished; `null` if no job of the wave has a key
 * @param now milliseconds since the Unix epoch
 */
export function waveResult(
	plan: WavePlan,
	{ outcomes: ends, stats }: PipelineResult<unknown>,
	shift: Shift,
	record: TableJournal | null,
	{ stopOnError, rests }: WaveSettings,
	now: number,
): WaveResult {
	const { jobs, sources, left } = plan;
	const outcomes = rests ? ends.map((end, index) => unlessDown(plan, index, end, now)) : ends;
	const hasOutage = outcomes.some((outcome, index) => outcome !== ends[index]);
	const settled: WaveState['settled'] = {};
	let ended = 0;
	let again = false;
	outcomes.forEach((outcome, index) => {
		const { itemIndex, kind } = jobs[index];
		if (outcome.kind === 'stopped') return;
		if (outcome.kind === 'error') {
			// A generation of an earlier wave failed. The next wave may create it again.
			const source = kind === 'collect' ? sources[index] : null;
			if (source && decideNextTry(source, outcome.error) !== 'stop') {
				again = true;
				return;
			}
			const error = source ? explainTries(source, outcome.error) : outcome.error;
			settled[itemIndex] = (error as GenerationError).fields;
		} else {
			// It is completed, it timed out, or its item does not wait.
			settled[itemIndex] = null;
		}
		ended++;
	});
	const failed = Object.values(settled).some((error) => error && !isBeyondLimit(error));
	return {
		settled,
		tried: triedBy(sources),
		spent: stats.spent,
		resubmitted: plan.resubmitted + stats.resubmitted,
		unrecorded: record ? stillUnrecorded(record, plan, outcomes) : plan.unrecorded,
		known: { ...plan.reused, ...knownAfter(plan, outcomes, now) },
		down: downAfter(plan, ends, outcomes, now),
		failed: [...new Set([...plan.failed, ...outcomes.flatMap(failedIn)])],
		earlier: plan.earlier,
		over: ended === left || (failed && stopOnError),
		nextAt: hasOutage ? afterOutage(plan, shift, now) : again ? null : shift.nextShiftAt,
		durations: shift.lastDurations,
	};
}

function knownAfter({ jobs, known }: WavePlan, outcomes: Array<Outcome<unknown>>, now: number) {
	const after: WaveState['known'] = {};
	outcomes.forEach((outcome, index) => {
		const { itemIndex } = jobs[index];
		const generation = outcome.kind === 'error' ? null : outcome.generation;
		const before = known[itemIndex];
		if (generation === null) {
			if (before) after[itemIndex] = null;
		} else if (generation.id !== before?.id) after[itemIndex] = { id: generation.id, since: now };
	});
	return after;
}

/** The ID of the generation whose failure is the outcome. */
function failedIn(outcome: Outcome<unknown>): string[] {
	const end = endOf(outcome);
	return end?.status === 'failed' ? [end.id] : [];
}

function triedBy(jobs: CreateJob[]): WaveState['tried'] {
	const known = jobs.filter(({ tried }) => tried && tried.failed + tried.fallbacks > 0);
	return Object.fromEntries(known.map(({ itemIndex, tried }) => [itemIndex, tried as Tried]));
}

/** The final state of a generation; `null` if it has not ended. */
function endOf(outcome: Outcome<unknown>): { id: string; status: string } | null {
	if (outcome.kind === 'error') {
		const { code, generation } = outcome.error;
		const ended = code === 'generation_failed' || code === 'generation_ended';
		if (!ended || generation === null) return null;
		return { id: generation.id, status: generation.status ?? 'failed' };
	}
	const { generation } = outcome;
	return generation?.status === 'completed' ? { id: generation.id, status: 'completed' } : null;
}
