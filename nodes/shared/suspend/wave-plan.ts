import {
	decideNextTry,
	explainTries,
	type CollectJob,
	type CreateJob,
	type Job,
	type KeyedJob,
	type Tried,
} from '../../../client/job';
import type { Outcome } from '../../../client/outcome';
import {
	hasId,
	isFree,
	isLive,
	newRow,
	rowsInForce,
	storedKey,
	type Row,
} from '../../../client/orders/table';
import type { TableJournal } from '../../../client/orders/table-journal';
import type { PipelineResult } from '../../../client/pipeline';
import type { Shift } from './shift';
import type { GenerationError, GenerationErrorFields } from '../../../client/api/errors';

/** One wave of a sleeping batch runs the same items again: it collects what has ended, and fills free slots. */

/** Maximum number of items that a wave begins before a sleep. It reads their keys a second time, in many table calls. */
const MOST_NEW = 200;

/** Items that need no further work, by index: their errors, or `null` for an item without an error. */
export type Settled = Record<number, GenerationErrorFields | null>;

/** The rows of generations that could not be written to the table, by index of their item. */
type Unrecorded = Record<number, Row>;

/**
 * The generation of each item that has one, by index, and since when the batch waits for it, in milliseconds since the
 * Unix epoch. `null` after it failed. Rows can be deleted while a batch sleeps, and would then be charged again.
 */
type Known = Record<number, { id: string; since: number } | null>;

/** What the waves of a batch tell each other. Plain data: it is stored while the batch sleeps. */
export interface WaveState {
	settled: Settled;
	/** Tries of items so far, by index. */
	tried: Record<number, Tried>;
	/** Number of creating requests of the batch that were charged, or may have been. */
	spent: number;
	unrecorded: Unrecorded;
	known: Known;
	/** True if nothing is left but to collect. */
	over: boolean;
	/** The durations of the last generations, in milliseconds. */
	durations: number[];
}

interface WavePlan {
	/** Jobs to run, first those whose generations exist. */
	jobs: Job[];
	/** The jobs of the step that they stand for, in the same order. */
	sources: CreateJob[];
	/** Number of jobs that have not ended. */
	left: number;
	/** Creating requests of earlier waves that were charged, or may have been. */
	spentBefore: number;
	unrecorded: Unrecorded;
	known: Known;
}

/**
 * Plans a wave.
 *
 * @param jobs of the step, each with an idempotency key
 * @param state what earlier waves reported
 * @param all the rows of the jobs in the record
 * @param batch the execution id in the rows of this batch
 * @param now milliseconds since the Unix epoch
 * @param mostNew maximum number of items that the wave begins
 */
export function planWave(
	jobs: CreateJob[],
	{ settled, spent, ...state }: Pick<WaveState, 'settled' | 'spent' | 'unrecorded' | 'known'>,
	all: Row[],
	batch: string,
	now: number,
	mostNew = MOST_NEW,
): WavePlan {
	const rows = rowsOfBatch(all, jobs, state);
	const left = jobs.filter(
		(job) => !(job.itemIndex in settled) && rowOf(rows, job)?.status !== 'completed',
	);
	const isOwn = (job: CreateJob) => rowOf(rows, job)?.execution_id === batch;
	const sinceOf = ({ itemIndex, ...job }: CreateJob) => {
		const wait = state.known[itemIndex];
		return wait?.id === rowOf(rows, job)?.generation_id ? wait?.since : undefined;
	};
	const isRunning = (job: CreateJob) => isOwn(job) || sinceOf(job) !== undefined;
	const running = left.filter(isRunning);
	const others = left.filter((job) => !isRunning(job)).slice(0, mostNew);
	const collected = running.map((job) =>
		// The row of another execution may be older than this batch.
		collecting(job, rowOf(rows, job) as Row, now, isOwn(job) ? undefined : sinceOf(job)),
	);
	return {
		jobs: [...collected, ...others],
		sources: [...running, ...others],
		left: left.length,
		// A wave that died reported none of its requests, but the record has them.
		spentBefore: Math.max(spent, spentBy(batch, all)),
		unrecorded: missingIn(all, state.unrecorded),
		known: state.known,
	};
}

/**
 * Returns the row that counts for each key. A row that could not be written counts, too, and so does one that was deleted
 * since an earlier wave.
 */
export function rowsOfBatch(
	all: Row[],
	jobs: Array<KeyedJob & { itemIndex: number }>,
	{ unrecorded, known }: Pick<WaveState, 'unrecorded' | 'known'>,
): Map<string, Row> {
	const rows = rowsInForce(all);
	const written = new Set(all.map((row) => row.generation_id));
	for (const job of jobs) {
		const generation = known[job.itemIndex];
		if (!generation || written.has(generation.id) || rowOf(rows, job)) continue;
		const { id, since } = generation;
		const row = newRow({ workflowId: '', nodeId: '', executionId: '' }, storedKeyOf(job));
		rows.set(row.key, { ...row, generation_id: id, id: 0, changedAt: since });
	}
	const missing = Object.values(missingIn(all, unrecorded));
	missing.filter(isLive).forEach((row) => rows.set(row.key, row));
	return rows;
}

/** The rows that are not in the table. */
export function missingIn(all: Row[], unrecorded: Unrecorded): Unrecorded {
	const written = new Set(all.map((row) => row.generation_id));
	const missing = Object.entries(unrecorded).filter(([, row]) => !written.has(row.generation_id));
	return Object.fromEntries(missing);
}

/**
 * The job of an item whose generation exists. It is only waited for: if it failed, that is an error, and not a reason to
 * create another one.
 *
 * @param now milliseconds since the Unix epoch
 * @param since when the batch began to wait, if that is known; otherwise the row's last change
 */
export function collecting(
	job: CreateJob,
	row: Row,
	now: number,
	since = row.changedAt ?? now,
): CollectJob {
	const { itemIndex, wait, readiness, timeoutMs, onTimeout } = job;
	return {
		kind: 'collect',
		id: row.generation_id,
		itemIndex,
		wait,
		readiness,
		timeoutMs,
		onTimeout,
		waitingSinceMs: Math.min(since, now - 1),
		row,
	};
}

/** The row of a job whose generation exists; `undefined` if there is none. */
export function rowOf(rows: Map<string, Row>, job: KeyedJob): Row | undefined {
	const row = rows.get(storedKeyOf(job));
	return row && hasId(row) ? row : undefined;
}

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
): Unrecorded {
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

/**
 * Returns the result of a wave.
 *
 * @param record with all its writes finished; `null` if no job of the wave has a key
 * @param stopOnError true if the first error ends the batch
 * @param now milliseconds since the Unix epoch
 */
export function waveResult(
	plan: WavePlan,
	{ outcomes, stats }: PipelineResult<unknown>,
	shift: Shift,
	record: TableJournal | null,
	stopOnError: boolean,
	now: number,
): WaveResult {
	const { jobs, sources, left } = plan;
	const settled: Settled = {};
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
	const failed = Object.values(settled).some((error) => error !== null);
	return {
		settled,
		tried: triedBy(sources),
		spent: stats.spent,
		unrecorded: record ? stillUnrecorded(record, plan, outcomes) : plan.unrecorded,
		known: knownAfter(plan, outcomes, now),
		over: ended === left || (failed && stopOnError),
		nextAt: again ? null : shift.nextShiftAt,
		durations: shift.lastDurations,
	};
}

function knownAfter({ jobs, known }: WavePlan, outcomes: Array<Outcome<unknown>>, now: number) {
	const after: Known = {};
	outcomes.forEach((outcome, index) => {
		const { itemIndex } = jobs[index];
		const generation = outcome.kind === 'error' ? null : outcome.generation;
		const before = known[itemIndex];
		if (outcome.kind === 'error' || generation?.status === 'failed') after[itemIndex] = null;
		else if (generation && generation.id !== before?.id) {
			after[itemIndex] = { id: generation.id, since: now };
		}
	});
	return after;
}

function triedBy(jobs: CreateJob[]): WaveState['tried'] {
	const known = jobs.filter(({ tried }) => tried && tried.failed + tried.fallbacks > 0);
	return Object.fromEntries(known.map(({ itemIndex, tried }) => [itemIndex, tried as Tried]));
}

/** Counts the rows of a batch whose requests were charged, or may have been. Failed generations count, too. */
function spentBy(batch: string, rows: Row[]): number {
	return rows.filter((row) => row.execution_id === batch && !isFree(row)).length;
}

function storedKeyOf({ idempotencyKey }: KeyedJob): string {
	return storedKey(idempotencyKey ?? '');
}

/** The final state of a generation; `null` if it has not ended. */
function endOf(outcome: Outcome<unknown>): { id: string; status: string } | null {
	if (outcome.kind === 'error') {
		const { code, generation } = outcome.error;
		const failed = code === 'generation_failed' && generation !== null;
		return failed ? { id: generation.id, status: 'failed' } : null;
	}
	const { generation } = outcome;
	return generation?.status === 'completed' ? { id: generation.id, status: 'completed' } : null;
}
