import type { INodeExecutionData } from 'n8n-workflow';

import { toResult, type Result } from '../../../client/async';
import type { CreateJob } from '../../../client/jobs/job';
import type { Row } from '../../../client/jobs/row';
import { limitsCredits, NOTHING_SPENT } from '../../../client/orders/spend-guard';
import { isLive } from '../../../client/orders/table';
import { storedKeyOf, unwrittenRows } from '../../../client/step/wave-plan';
import type { PipelineStats } from '../../../client/step/pipeline';
import { continuesOnError, journalOf } from '../execution';
import { keyOf, rowsOf } from '../record/record';
import { runNode, unsentErrors, type Failures } from '../run/run-node';
import { addStats, type StepStart } from '../run/run-plans';
import type { Plan } from '../form/plan-items';
import { InvalidInputError } from '../form/checks';
import { type Step, evaluatingOnce } from '../step';
import { polledHint, whyNotSleep } from './can-sleep';
import { fallAsleep, hasFiles } from './fall-asleep';
import { fetchResults, lastKnown, type AwakeStep } from './fetch-results';
import type { Sleeper } from './sleeper';
import { endsOf, newState, takeIn } from './state';
import { runWave, type BatchState } from './wave';

/** A node type that creates generations. */
export type CreatingNode = Pick<Sleeper, 'fields' | 'plan'>;

/** What the helper executions of a creating node do. */
export function sleepingBatch(node: CreatingNode): Sleeper<BatchState> {
	return {
		noun: 'sleeping batch',
		createsNothing: false,
		howToGoOn:
			'Run the same items in a new execution: charged generations are reused. If an item fails again, set On Error to Continue to get the others. Retry in the executions list only shows this error again',
		...node,
		work: async (step, planned, state) => (await runWave(step, planned, state)).report,
		stopped: async (step, { items = {} }) => {
			await toResult(async () => await rowsOf(step, [], unwrittenRows(items)));
			// A write to the table that fails after a stop is not reported, so the ids are logged.
			const ids = Object.values(items).flatMap(({ generation }) => generation?.id ?? []);
			if (ids.length > 0) step.n8n.logger.warn(chargedBeforeStop(step, ids), { generations: ids });
		},
		lost: ({ items }) => unwrittenRows(items ?? {}).map((row) => row.generation_id),
		results: fetchResults,
		lastKnown,
	};
}

function chargedBeforeStop({ node }: Step, ids: string[]): string {
	return `"${node.name}" was stopped. Created since its last sleep, and charged: ${ids.join(', ')}`;
}

/** Runs a step of the user's workflow that is set to suspend. */
export async function runBatch(step: Step, node: CreatingNode): Promise<INodeExecutionData[][]> {
	return await runNode(
		evaluatingOnce(step),
		node.plan,
		async (once, ...planned) => await beginBatch(once, node, ...planned),
	);
}

/**
 * Submits as many items as the limit allows, and lets the execution sleep until the batch has ended.
 *
 * @param step evaluates each expression only once
 * @returns the output of the step; `null` if `runNode` must run the jobs
 */
async function beginBatch(
	step: Step,
	node: CreatingNode,
	start: StepStart,
	planned: Plan[],
	failures: Failures,
): Promise<INodeExecutionData[][] | null> {
	if (!planned.some(({ job }) => job.wait)) return null;
	// Also an error where the step polls: the user asked for a batch that needs keys.
	const journal = journalOf(step);
	for (const { job } of planned) {
		if (keyOf(job) !== null) continue;
		failures[job.itemIndex] = unsentErrors(journal, keyMissing(), job.itemIndex);
	}
	if (failures.flat().length > 0 && !continuesOnError(step)) return null;
	if (planned.every(({ job }) => failures[job.itemIndex].length > 0)) return null;
	const reason = whyNotSuspend(step, planned) ?? (await whyNotPaired(step, planned, start));
	if (reason !== null) {
		polledHint(step, reason);
		return null;
	}
	const items = endsOf(failures);
	const state: BatchState = {
		...newState(step, journal.runIndex, items, hasFiles(step, planned)),
		spent: NOTHING_SPENT,
		resubmitted: 0,
		failed: [],
		earlier: [],
		durations: [],
	};
	const { checks } = start;
	const begun = await toResult(async () => await runWave(step, planned, state, { checks }));
	if (step.signal.aborted) return null;
	if (!begun.ok) {
		polledHint(step, `the first items could not be submitted: ${(begun.error as Error).message}`);
		return null;
	}
	let stats: PipelineStats | null = begun.value.stats;
	takeIn(state, begun.value.report);
	if (!state.over) {
		const slept = await fallAsleep(step, sleepingBatch(node), state);
		if (slept) return slept;
		stats = await runAwake(step, planned, state, { start, stats });
	}
	return stats && (await fetchResults(step, plansOf(planned, failures), state, { start, stats }));
}

/**
 * Runs waves that do not sleep, until all items have ended.
 *
 * @returns the counters of the step; `null` if it was stopped. If a wave fails, the items that have not ended are left
 * to `fetchResults`
 */
async function runAwake(
	step: Step,
	planned: Plan[],
	state: BatchState,
	{ start: { checks }, stats }: AwakeStep,
): Promise<PipelineStats | null> {
	let all = stats;
	while (!state.over) {
		const terms = { checks, rests: false };
		const ended = await toResult(async () => await runWave(step, planned, state, terms));
		if (step.signal.aborted) return null;
		if (!ended.ok) return all;
		takeIn(state, ended.value.report);
		all = addStats(all, ended.value.stats);
	}
	return all;
}

/** The plan of each item, or its error. A step that may sleep has one plan for each item. */
function plansOf(planned: Plan[], failures: Failures): Array<Result<Plan[]>> {
	const plans = new Map(planned.map((plan) => [plan.job.itemIndex, plan]));
	return failures.map(([error], itemIndex) => {
		const plan = plans.get(itemIndex);
		return plan ? { ok: true, value: [plan] } : { ok: false, error };
	});
}

function keyMissing(): InvalidInputError {
	return new InvalidInputError(
		'Suspend needs an Idempotency Key, and this item has none',
		'A batch that sleeps finds its generations by their idempotency keys. Add the option Idempotency Key with a different value for each item, such as {{ $json.id }}. Or set Sleep During Long Batches to No.',
	);
}

/**
 * The reason why the batch must poll, as `whyNotSuspend`: n8n pairs what a step returns after a sleep by its position, so
 * nothing may be left out in the middle. A limit leaves out the last items that have no generation yet. An item with the
 * idempotency key of an earlier one reuses its generation.
 */
async function whyNotPaired(
	step: Step,
	planned: Plan[],
	{ options }: StepStart,
): Promise<string | null> {
	const most = options.maxNewGenerations ?? (limitsCredits(options) ? 0 : null);
	if (most === null || continuesOnError(step)) return null;
	const jobs = planned.map(({ job }) => job as CreateJob);
	const read = await toResult(async () => await rowsOf(step, jobs, []));
	// The first wave has the same error.
	if (!read.ok) return null;
	const keysOf = (rows: Row[]) => new Set(rows.map(({ key }) => key));
	const completed = keysOf(read.value.filter(({ status }) => status === 'completed'));
	// A generation that is still running may fail, and be created again.
	const mayBeNew = jobs.filter((job) => !completed.has(storedKeyOf(job)));
	const known = keysOf(read.value.filter(isLive));
	const isNew = jobs.map(storedKeyOf).map((key) => {
		const isFirst = !known.has(key);
		known.add(key);
		return isFirst;
	});
	const mayLeaveGap = isNew.indexOf(true) < isNew.lastIndexOf(false);
	return mayLeaveGap && mayBeNew.length > most
		? 'a spending limit may leave out items between others, which n8n cannot pair after a sleep. Set On Error to Continue to suspend'
		: null;
}

/** The reason why the batch must poll, for a hint; `null` if it can sleep. */
export function whyNotSuspend(step: Step, planned: Plan[]): string | null {
	const reason = whyNotSleep(step);
	if (reason !== null) return reason;
	const several = planned.some(({ job }) => job.kind === 'create' && job.outputIndex);
	return several ? 'n8n cannot pair several outputs with one item after a sleep' : null;
}
