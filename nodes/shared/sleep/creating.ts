import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import { toResult, type Result } from '../../../client/async';
import type { PipelineStats } from '../../../client/pipeline';
import { cancelSignal, continuesOnError, journalOf } from '../execution';
import { whileWaitingOfFirst } from '../form/parameters';
import { keyOf, rowsOf } from '../record/record';
import { runNode, unsentErrors, type Failures } from '../run-node';
import { addStats, type StepStart } from '../run-plans';
import type { Plan } from '../form/plan-items';
import { InvalidInputError } from '../form/checks';
import { evaluatingOnce } from './acting-as';
import { polledHint, whyNotSleep } from './can-sleep';
import { fallAsleep, hasFiles } from './fall-asleep';
import { fetchResults, lastKnown, type AwakeStep } from './results';
import { runAsHelper } from './roles';
import type { Sleeper } from './sleeper';
import { newState, shortly, takeIn } from './state';
import { runWave, type BatchState } from './wave';

/** A node type that creates generations. */
interface CreatingNode {
	fields: INodeProperties[];
	/** Reads and validates one item's parameters; throws `InvalidInputError`. */
	plan: (context: IExecuteFunctions, itemIndex: number) => Plan[] | Promise<Plan[]>;
}

/**
 * Runs a creating node: as a step of the user's workflow, or in a helper workflow of a sleeping batch.
 *
 * @returns the items of the node's output
 * @throws NodeApiError as `runNode` does
 */
export async function runCreatingNode(
	context: IExecuteFunctions,
	node: CreatingNode,
): Promise<INodeExecutionData[][]> {
	return (await runAsHelper(context, sleepingBatch(node))) ?? (await runStep(context, node));
}

function sleepingBatch(node: CreatingNode): Sleeper<BatchState> {
	return {
		noun: 'sleeping batch',
		createsNothing: false,
		howToGoOn:
			'Run the same items in a new execution: charged generations are reused. If an item fails again, set On Error to Continue to get the others. Retry in the executions list only shows this error again',
		...node,
		work: async (step, planned, state) => (await runWave(step, planned, state)).report,
		stopped: async (step, { unrecorded = {} }: Partial<BatchState>) => {
			await toResult(async () => await rowsOf(step, [], Object.values(unrecorded)));
		},
		lost: ({ unrecorded }) => Object.values(unrecorded ?? {}).map((row) => row.generation_id),
		results: async (step, plans, state) => await fetchResults(step, plans, state),
		lastKnown,
	};
}

/** Runs a step of the user's workflow. */
async function runStep(context: IExecuteFunctions, node: CreatingNode) {
	if (whileWaitingOfFirst(context) === 'poll') {
		return await runNode(context, (itemIndex) => node.plan(context, itemIndex));
	}
	const once = evaluatingOnce(context);
	const plan = (itemIndex: number) => node.plan(once, itemIndex);
	return await runNode(context, plan, async (...step) => await sleep(once, node, ...step));
}

/**
 * Submits as many items as the limit allows, and lets the execution sleep until the batch has ended.
 *
 * @param context evaluates each expression only once
 * @returns the output of the step; `null` if it must go on by itself
 */
async function sleep(
	context: IExecuteFunctions,
	node: CreatingNode,
	start: StepStart,
	planned: Plan[],
	failures: Failures,
): Promise<INodeExecutionData[][] | null> {
	if (!planned.some(({ job }) => job.wait)) return null;
	// Also an error where the step polls: the user asked for a batch that needs keys.
	const journal = journalOf(context);
	for (const { job } of planned) {
		if (keyOf(job) !== null) continue;
		failures[job.itemIndex] = unsentErrors(journal, keyMissing(), job.itemIndex);
	}
	if (failures.flat().length > 0 && !continuesOnError(context)) return null;
	if (planned.every(({ job }) => failures[job.itemIndex].length > 0)) return null;
	const reason = whyNotSuspend(context, planned);
	if (reason !== null) {
		polledHint(context, reason);
		return null;
	}
	const settled = Object.fromEntries(
		failures.flatMap(([error], itemIndex) => (error ? [[itemIndex, error.fields]] : [])),
	);
	const state: BatchState = {
		...newState(context, journal.runIndex, settled, hasFiles(context, planned)),
		tried: {},
		spent: 0,
		resubmitted: 0,
		unrecorded: {},
		known: {},
		down: {},
		failed: [],
		earlier: [],
		durations: [],
	};
	const { checks } = start;
	const begun = await toResult(async () => await runWave(context, planned, state, { checks }));
	if (cancelSignal(context).aborted) return null;
	if (!begun.ok) {
		polledHint(
			context,
			`the first items could not be submitted: ${(begun.error as Error).message}`,
		);
		return null;
	}
	const { report, nextCheckAt } = begun.value;
	let stats: PipelineStats | null = begun.value.stats;
	takeIn(state, report);
	if (!state.over) {
		state.wakeAt = Math.max(shortly(), nextCheckAt);
		const slept = await fallAsleep(context, sleepingBatch(node), state);
		if (slept) return slept;
		stats = await runAwake(context, planned, state, { start, stats });
	}
	return (
		stats && (await fetchResults(context, plansOf(planned, failures), state, { start, stats }))
	);
}

/**
 * Runs waves that do not sleep, until all items have ended.
 *
 * @returns the counters of the step; `null` if it was stopped. If a wave cannot read the table, the rest is left to do
 */
async function runAwake(
	context: IExecuteFunctions,
	planned: Plan[],
	state: BatchState,
	{ start: { checks }, stats }: AwakeStep,
): Promise<PipelineStats | null> {
	let all = stats;
	while (!state.over) {
		const terms = { checks, rests: false };
		const ended = await toResult(async () => await runWave(context, planned, state, terms));
		if (cancelSignal(context).aborted) return null;
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
		'A batch that sleeps finds its generations by their idempotency keys. Add the option Idempotency Key with a different value for each item, such as {{ $json.id }}. Or set While Waiting to Poll.',
	);
}

/** The reason why the batch must poll, for a hint; `null` if it can sleep. */
export function whyNotSuspend(context: IExecuteFunctions, planned: Plan[]): string | null {
	const reason = whyNotSleep(context);
	if (reason !== null) return reason;
	const several = planned.some(({ job }) => job.kind === 'create' && job.outputIndex);
	return several ? 'n8n cannot pair several outputs with one item after a sleep' : null;
}
