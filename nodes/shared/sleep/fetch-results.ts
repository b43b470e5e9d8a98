import type { INodeExecutionData } from 'n8n-workflow';

import { GenerationError, type KnownGeneration } from '../../../client/api/errors';
import { toResult, type Result } from '../../../client/async';
import type { CreateJob, KeyedJob } from '../../../client/jobs/job';
import { errorOfJob, type Outcome } from '../../../client/jobs/outcome';
import type { Row } from '../../../client/jobs/row';
import { isLive } from '../../../client/orders/table';
import type { PipelineStats } from '../../../client/step/pipeline';
import { continuesOnError } from '../execution';
import { optionByPath, textIfSet } from '../form/parameters';
import { stepError } from '../output/node-error';
import type { Output } from '../output/results';
import { rowsOf } from '../record/record';
import { firstFailure, runToEnd, type Failures } from '../run/run-node';
import { startOf, type StepStart } from '../run/run-plans';
import type { Plan } from '../form/plan-items';
import {
	hasEnded,
	missingIn,
	rowsOfBatch,
	storedKeyOf,
	unwrittenRows,
	type GenerationState,
} from '../../../client/step/wave-plan';
import { fetching, type BatchState } from './wave';
import type { Step } from '../step';

/** What the waves reported. */
type Fetched = GenerationState & Pick<BatchState, 'spent' | 'lastDeath'>;

/** A step that has not slept. */
export interface AwakeStep {
	start: StepStart;
	/** The counters of its waves. */
	stats: PipelineStats;
}

/**
 * Fetches the results of a batch, after its sleep or after waves that ran awake.
 *
 * @param awake set if the step has not slept
 * @returns the output items
 * @throws NodeApiError as `runNode` does
 */
export async function fetchResults(
	step: Step,
	plans: Array<Result<Plan[]>>,
	{ spent, lastDeath, ...state }: Fetched,
	awake: AwakeStep | null = null,
): Promise<INodeExecutionData[][]> {
	const jobs = plans.map((plan, itemIndex) => jobOf(step, plan, itemIndex));
	const found = await toResult(async () => await read(step, jobs, state));
	// After a sleep, the results are fetched again. A step that is still awake uses what the waves reported.
	if (!found.ok && !awake) throw found.error;
	const all = found.ok ? found.value : [];
	const rows = rowsOfBatch(all, jobs, state);
	const known = jobs.map((job) => chargedFor(rows, job));
	const failures: Failures = plans.map((plan, itemIndex) => {
		const own = state.items[itemIndex]?.end;
		if (own) return [new GenerationError(own)];
		if (!plan.ok) return [rejectedAfterSleep(plan.error, known[itemIndex])];
		if (awake || rows.has(itemIndex)) return [];
		return [neverCreated(all, jobs[itemIndex], hasEnded(state.items, itemIndex), lastDeath)];
	});
	// The error that ended the batch comes before those of the items that it has left out.
	const own = failures.map((errors, itemIndex) => (state.items[itemIndex]?.end ? errors : []));
	const first = [firstFailure(own), firstFailure(failures)].find((index) => index >= 0) ?? -1;
	if (first >= 0 && !continuesOnError(step)) {
		const outcomes = failures.map(
			([error], itemIndex): Outcome<unknown> =>
				error ? { kind: 'error', error } : { kind: 'stopped', generation: known[itemIndex] },
		);
		throw stepError(step, failures[first][0], first, outcomes, awake?.start.journal);
	}
	const planned = plans.flatMap((plan) => (plan.ok ? plan.value : []));
	const start = awake?.start ?? (await startOf(step));
	const options = { ...start.options, spentBefore: spent };
	const unrecorded = Object.values(missingIn(all, state.items)).map(({ key }) => key);
	const before = awake ? { stats: awake.stats, unrecorded } : undefined;
	// An item that the awake waves did not end keeps its own plan. It reuses a completed generation, so that this is
	// counted and its request is compared. Or a wave failed first, so that the item must still be run.
	const isReused = ({ job }: Plan) => awake !== null && !hasEnded(state.items, job.itemIndex);
	const fetched = planned.map((plan) => (isReused(plan) ? plan : fetching(plan, rows)));
	const reported = awake
		? undefined
		: new Set(own.flatMap(([error], index) => (error ? index : [])));
	return await runToEnd(step, { ...start, options, before, reported }, fetched, failures);
}

type ItemJob = KeyedJob & Pick<CreateJob, 'itemIndex'>;

/** The job of an item. If a newer release of this package rejects the item after the sleep, only its key is known. */
function jobOf(step: Step, plan: Result<Plan[]>, itemIndex: number): ItemJob {
	if (plan.ok) return plan.value[0].job as CreateJob;
	const job = { kind: 'create', itemIndex } as const;
	try {
		const key = optionByPath(step, itemIndex, 'options', 'idempotencyKey');
		return { ...job, idempotencyKey: textIfSet('Idempotency Key', key) };
	} catch {
		return job;
	}
}

/** The charged generation of an item. A failed one was refunded. */
function chargedFor(rows: Map<number, Row>, job: ItemJob): KnownGeneration | null {
	const row = rows.get(job.itemIndex);
	return row && isLive(row) ? { id: row.generation_id, status: row.status } : null;
}

function rejectedAfterSleep(thrown: unknown, generation: KnownGeneration | null): GenerationError {
	const error = errorOfJob(thrown, generation);
	if (generation !== null) return error;
	return error.with({
		charge: 'unknown',
		details: 'The item was valid before the sleep, and may have been charged',
	});
}

/**
 * The error of an item for which the batch has no generation: it ended before it could create one. Fetching the
 * results creates nothing.
 *
 * @param all the rows of the batch
 * @param isSettled true if the item had a generation
 * @param lastDeath why the batch ended
 */
function neverCreated(
	all: Row[],
	job: ItemJob,
	isSettled: boolean,
	lastDeath: string,
): GenerationError {
	const key = storedKeyOf(job);
	const isOpen = isSettled || all.some((row) => row.key === key && isLive(row));
	const ended = 'The sleeping batch ended before this item was created';
	return new GenerationError({
		title: isOpen ? `${ended}, and it may have been charged` : ended,
		details: lastDeath && `The last helper execution ended with: ${lastDeath}`,
		description: 'Run the same items again: charged generations are reused.',
		code: 'batch_interrupted',
		charge: isOpen ? 'unknown' : 'none',
	});
}

/**
 * The outcomes of a batch that is given up. An item that already has an error keeps it. Any other item gets the error
 * of the batch, with its generation if there is one.
 *
 * @param step the step that sleeps, from `stepOf`
 * @param plans of the step's items
 * @param state what the waves reported
 * @param error of the batch
 */
export async function lastKnown(
	step: Step,
	plans: Array<Result<Plan[]>>,
	state: GenerationState,
	error: GenerationError,
): Promise<Array<Outcome<Output>>> {
	const jobs = plans.map((plan, itemIndex) => jobOf(step, plan, itemIndex));
	// Without the table, what the waves reported still names the generations.
	const found = await toResult(async () => await read(step, jobs, state));
	const rows = rowsOfBatch(found.ok ? found.value : [], jobs, state);
	return jobs.map((job, itemIndex): Outcome<Output> => {
		const own = state.items[itemIndex]?.end;
		if (own) return { kind: 'error', error: new GenerationError(own) };
		const generation = chargedFor(rows, job);
		if (generation === null) return { kind: 'error', error };
		return { kind: 'error', error: error.with({ charge: 'paid', generation }) };
	});
}

async function read(step: Step, jobs: KeyedJob[], { items }: Pick<BatchState, 'items'>) {
	return await rowsOf(step, jobs, unwrittenRows(items));
}
