import type { INodeExecutionData, NodeApiError } from 'n8n-workflow';

import { toResult } from '../../../client/async';
import type { GenerationError } from '../../../client/api/errors';
import type { Job } from '../../../client/jobs/job';
import { errorOfJob, type Outcome } from '../../../client/jobs/outcome';
import type { Journal } from '../../../client/orders/journal';
import type { TableJournal } from '../../../client/orders/table-journal';
import { uncertainCharge } from '../../../client/orders/order-errors';
import { isBeyondLimit } from '../../../client/orders/spend-guard';
import { continuesOnError, isCallOver, runsAsTool } from '../execution';
import { stepError } from '../output/node-error';
import { MOST_OUTPUTS } from '../form/fields';
import { planItems, type Plan, type PlanItem } from '../form/plan-items';
import { keyOf, openRecord, recordUnreturned, type CreatedGeneration } from '../record/record';
import { recordHint, reportEnd, reportUnexpected, summaryHint } from '../output/report';
import { paidGenerations, type ItemEnd } from '../output/outcomes';
import { outputItems, type Output } from '../output/results';
import { traceStep } from '../output/trace';
import { addStats, runPlans, startOf, type StepStart } from './run-plans';
import { outcomeOfCall, withinCall } from './tool-call';
import type { Step } from '../step';

/**
 * Lets a step sleep while its generations run. May add errors to `failures`.
 *
 * @returns the output of the step; `null` if `runNode` must run the jobs
 */
type Sleep = (
	step: Step,
	start: StepStart,
	planned: Plan[],
	failures: Failures,
) => Promise<INodeExecutionData[][] | null>;

/** The errors of each item, by item index. An item is run only if its list is empty. */
export type Failures = GenerationError[][];

/**
 * Runs a creating or waiting node. All items are validated before the first request. Then the step sleeps, if it may, or
 * one pipeline runs all of its jobs. The output items are in the order of the input items, and paired with them.
 *
 * @param sleep set if the step may sleep
 * @returns the items of the node's output
 * @throws NodeApiError that names the item, the cause and every generation that was charged
 */
export async function runNode(
	step: Step,
	planItem: PlanItem,
	sleep?: Sleep,
): Promise<INodeExecutionData[][]> {
	const plans = await planItems(step, planItem);
	const start = startOf(step);
	const { journal } = start;
	const failures = plans.map((plan, itemIndex) =>
		plan.ok ? [] : unsentErrors(journal, plan.error, itemIndex),
	);
	const planned = plans.flatMap((plan) => (plan.ok ? plan.value : []));
	reportUnexpected(step, failures.flat());
	traceStep(step, { jobs: planned.map(({ job }) => job), outcomes: inOrder(failures, [], []) });
	throwFirst(step, journal, failures);

	const slept = (await sleep?.(step, start, planned, failures)) ?? null;
	if (slept) return slept;
	const run = async (within: Step) => await runToEnd(within, start, planned, failures);
	const longest = planned.reduce((most, { job }) => Math.max(most, job.timeoutMs), 0);
	return await (runsAsTool(step) ? withinCall(step, run, longest) : run(step));
}

/**
 * Runs the jobs of a step until all have ended.
 *
 * @param failures the errors of items that are not run
 * @returns the items of the node's output
 * @throws NodeApiError if an item failed and On Error is Stop. It names the item, the cause and every charged generation
 */
export async function runToEnd(
	step: Step,
	start: StepStart,
	planned: Plan[],
	failures: Failures,
): Promise<INodeExecutionData[][]> {
	const { before, journal, memory, reported } = start;
	const isValid = ({ job }: Plan) => failures[job.itemIndex].length === 0;
	const keyed = planned.filter((plan) => isValid(plan) && keyOf(plan.job) !== null);
	const record = keyed.length > 0 ? await recordOf(step, start, keyed, failures) : null;
	const valid = planned.filter(isValid);
	const work = async () => {
		throwFirst(step, record ?? journal, failures, memory ? valid : []);
		return await runPlans(step, valid, start, record);
	};
	const ran = await work().finally(async () => await record?.close());
	const isOver = isCallOver(step);
	const outcomes = isOver
		? ran.outcomes.map((outcome, index) => outcomeOfCall(outcome, valid[index].job))
		: ran.outcomes;
	const failed = valid.filter((_, index) => hasFailed(outcomes[index])).map(({ job }) => job);
	// An item that already failed before the sleep (`reported`) is the cause: because of it, the other items were not sent.
	const cause = failed.find(({ itemIndex }) => reported?.has(itemIndex));
	const firstFailed = cause ?? ran.firstFailed ?? (isOver ? (failed[0] ?? null) : null);
	const stats = before ? addStats(before, ran.stats) : ran.stats;
	const unwritten = record?.unrecorded ?? memory?.unwritten ?? [];
	const unrecorded = unwritten.map(({ key }) => key);
	const isUnkeyed = ({ job }: Plan) => record !== null && keyOf(job) === null;
	const unkeyed = planned.filter(isUnkeyed).map(({ job }) => job.itemIndex);
	recordHint(step, unrecorded, stats.changed, unkeyed);
	const all = inOrder(failures, valid, outcomes);
	const traced = all.filter(({ itemIndex }) => !reported?.has(itemIndex));
	traceStep(step, { jobs: planned.map(({ job }) => job), outcomes: traced, stats });

	if (step.signal.aborted && !isOver) {
		reportEnd(step, 'Stopped', all);
		await recordUnreturned(step, record, createdBy(all));
	} else if (firstFailed !== null && !continuesOnError(step) && !isUseful(step, all)) {
		await recordUnreturned(step, record, createdBy(all));
		throw endedBy(step, journal, firstFailed, all);
	}
	summaryHint(step, stats, all);
	return [outputItems(step, all)];
}

/** True if an agent gets output items rather than one error, because at least one of the items has a generation. */
function isUseful(step: Step, all: JobOutcome[]): boolean {
	return runsAsTool(step) && all.some(({ kind }) => kind === 'done');
}

function hasFailed(outcome: Outcome<Output>): boolean {
	return outcome.kind === 'error' && !isBeyondLimit(outcome.error);
}

/** An outcome with its job, if the item was run. */
type JobOutcome = ItemEnd<Output> & { job?: Job };

/** The generations that the outcomes show as charged, with the jobs that created them. */
function createdBy(all: JobOutcome[]): CreatedGeneration[] {
	return all.flatMap((outcome) => {
		const { job } = outcome;
		if (job?.kind !== 'create') return [];
		return paidGenerations([outcome]).map((generation) => ({ job, generation }));
	});
}

/**
 * The outcomes of all outputs, in the order of the items.
 *
 * @param failures errors of items that were not run, by item
 * @param plans the plans that were run, in order
 * @param outcomes of these plans
 */
function inOrder(
	failures: Failures,
	plans: Plan[],
	outcomes: Array<Outcome<Output>>,
): JobOutcome[] {
	const all = failures.map((errors, itemIndex) =>
		errors.map((error): JobOutcome => ({ kind: 'error', error, itemIndex })),
	);
	plans.forEach(({ job }, index) => {
		all[job.itemIndex].push({ ...outcomes[index], itemIndex: job.itemIndex, job });
	});
	return all.flat();
}

/**
 * The error that stops a step because one job failed.
 *
 * @param all the outcomes of all outputs, in order
 */
function endedBy(step: Step, journal: Journal, failed: Job, all: JobOutcome[]): NodeApiError {
	const position = all.findIndex(({ job }) => job === failed);
	const { error } = all[position] as Extract<Outcome<Output>, { kind: 'error' }>;
	reportEnd(step, `Failed (${error.message})`, all);
	return stepError(step, error, position, all, journal);
}

/**
 * Returns the errors of an item that is not sent in this attempt of the step. If earlier attempts paid for outputs, or may
 * have paid for them, each of these outputs gets an error with its known generation. Otherwise, the item gets one error.
 */
export function unsentErrors(
	journal: Journal,
	error: unknown,
	itemIndex: number,
): GenerationError[] {
	const errors = Array.from({ length: MOST_OUTPUTS }, (_, outputIndex) => {
		const { paid, unresolved } = journal.left({ itemIndex, outputIndex });
		if (paid !== null) return errorOfJob(error, paid);
		return unresolved && uncertainCharge(errorOfJob(error, null), unresolved);
	}).filter((one) => one !== null);
	return errors.length > 0 ? errors : [errorOfJob(error, null)];
}

/**
 * @param left plans of the items that have not failed. The error names their generations
 * @throws NodeApiError if an item has failed without being run and On Error does not continue
 */
function throwFirst(step: Step, journal: Journal, failures: Failures, left: Plan[] = []): void {
	const first = failures.findIndex((errors) => errors.some((error) => !isBeyondLimit(error)));
	if (first < 0 || continuesOnError(step)) return;
	const stopped = left.map(({ job }): Outcome<Output> => {
		const paid = job.kind === 'create' ? journal.paidFor(job) : { id: job.id };
		return { kind: 'stopped', generation: paid };
	});
	const all = inOrder(failures, left, stopped);
	const position = all.findIndex(({ itemIndex }) => itemIndex === first);
	throw stepError(step, failures[first][0], position, all, journal);
}

/** Opens the data table with the idempotency keys. If it is unavailable, returns `null`, and usually fails these items. */
async function recordOf(
	step: Step,
	start: StepStart,
	keyed: Plan[],
	failures: Failures,
): Promise<TableJournal | null> {
	const { journal, memory, creationBan } = start;
	const jobs = keyed.map(({ job }) => job);
	const opened = await toResult(async () => await openRecord(step, journal, jobs, memory));
	if (opened.ok) return opened.value;
	// After a stop, no request is sent anyway. Failures would make the execution end as failed rather than as stopped.
	if (step.signal.aborted) return null;
	// With a `creationBan`, this helper execution only fetches results. It fails with the error, and a new one tries again.
	if (creationBan) throw opened.error;
	// With `memory`, the step goes on awake after its first wave (`beginSleep`): fetch its generations, and create no others.
	if (memory) start.creationBan = opened.error as GenerationError;
	if (memory) return null;
	for (const job of jobs) {
		failures[job.itemIndex] = unsentErrors(journal, opened.error, job.itemIndex);
	}
	return null;
}
