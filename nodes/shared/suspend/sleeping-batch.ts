import {
	WAIT_FOR_SUB_EXECUTION,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
	type NodeApiError,
} from 'n8n-workflow';

import { toResult, type Result } from '../../../client/async';
import type { PipelineStats } from '../../../client/pipeline';
import { cancelSignal, continuesOnError, journalOf } from '../execution';
import { whileWaitingOfFirst } from '../form/parameters';
import { keyOf, rowsOf } from '../record/record';
import { runNode, unsentErrors, type Failures } from '../run-node';
import { addStats, type StepStart } from '../run-plans';
import { planItems, type Plan } from '../form/plan-items';
import { newTerms, runHelper, secretOf, termsOf } from '../helper-workflow';
import { InvalidInputError } from '../form/checks';
import {
	isCurrent,
	isState,
	messageIn,
	messageItem,
	roleOf,
	ROLE_PARAMETER,
	shortly,
	STORED_VERSION,
	takeIn,
	type BatchRole,
	type BatchState,
} from './batch-state';
import { evaluatingOnce, keepParameters, stepOf, unlessStopped } from './batch-step';
import { supervisor } from './batch-workflows';
import { polledHint, whyNotSleep } from './can-sleep';
import { n8nStarted } from './crash-recovery';
import { otherVersion } from './other-version';
import { failureItem, fetchResults, results, type AwakeStep } from './results';
import { notOfBatch, supervise } from './supervisor';
import { runWave } from './wave';

/** A node type that creates generations. */
export interface CreatingNode {
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
	const role = roleOf(context.getNode().parameters?.[ROLE_PARAMETER]);
	if (role === null) return await runStep(context, node);
	if (secretOf(context) === null) throw await withoutSecret(context, role);
	if (role === 'sleep' || role === 'work' || role === 'deliver')
		return await asWave(context, node, role);
	return await supervise(context, role, node.plan);
}

/**
 * The error of a node with a role and without a secret: of a batch that an older release has stored, or of a workflow that
 * is not a helper workflow. It tells only what the node's own execution has stored.
 */
async function withoutSecret(context: IExecuteFunctions, role: BatchRole): Promise<NodeApiError> {
	const { batch } = context.getContext('flow') as { batch?: unknown };
	// An error of one of these two ends the batch.
	const isEnd = role === 'continueLater' || role === 'return';
	return isEnd && isState(batch) ? await otherVersion(context, [batch]) : notOfBatch(context);
}

/** Runs a step of the user's workflow. */
async function runStep(context: IExecuteFunctions, node: CreatingNode) {
	if (whileWaitingOfFirst(context) === 'poll') {
		return await runNode(context, (itemIndex) => node.plan(context, itemIndex));
	}
	const once = evaluatingOnce(context);
	return await runNode(context, (itemIndex) => node.plan(once, itemIndex), {
		sleep: async (start, planned, failures) => await sleep(once, node, start, planned, failures),
	});
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
	const state: BatchState = {
		v: STORED_VERSION,
		batch: context.getExecutionId(),
		step: context.getNode().name,
		run: journal.runIndex,
		settled: Object.fromEntries(
			failures.flatMap(([error], itemIndex) => (error ? [[itemIndex, error.fields]] : [])),
		),
		tried: {},
		spent: 0,
		resubmitted: 0,
		unrecorded: {},
		known: {},
		down: {},
		failed: [],
		earlier: [],
		over: false,
		stopped: false,
		wakeAt: 0,
		sleepsFrom: 0,
		durations: [],
		collections: 0,
		dead: 0,
		lastDeath: '',
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
		const secret = keepParameters(context, node.fields, state.run);
		const hasFiles = planned.some(({ download }) => download !== null);
		const terms = newTerms(context, hasFiles, secret);
		const items = [messageItem({ state })];
		const slept = await toResult(
			async () => await runHelper(context, supervisor(context.getNode(), state.step), items, terms),
		);
		if (slept.ok) return [slept.value ?? []];
		polledHint(context, `n8n could not suspend the execution: ${(slept.error as Error).message}`);
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
		'A batch that sleeps finds its generations by their keys. Add the option Idempotency Key with a different value for each item, such as {{ $json.id }}. Or set While Waiting to Poll.',
	);
}

/** The reason why the batch must poll, for a hint; `null` if it can sleep. */
export function whyNotSuspend(context: IExecuteFunctions, planned: Plan[]): string | null {
	const reason = whyNotSleep(context, wakesAfterCrash(), '2.41');
	if (reason !== null) return reason;
	const several = planned.some(({ job }) => job.kind === 'create' && job.outputIndex);
	return several ? 'n8n cannot pair several outputs with one item after a sleep' : null;
}

/**
 * True if n8n wakes a step whose helper workflow died. Nodes cannot read n8n's version, so this checks for a constant
 * that n8n itself uses for that since 2.41.
 */
function wakesAfterCrash(): boolean {
	return WAIT_FOR_SUB_EXECUTION instanceof Date;
}

type WaveRole = 'sleep' | 'work' | 'deliver';

/**
 * Runs a node of a wave, or of the workflow that fetches the results. If the user's workflow keeps no failed executions,
 * an error is returned as n8n returns that of a failed helper workflow. Otherwise n8n would keep the failed wave.
 */
async function asWave(context: IExecuteFunctions, node: CreatingNode, role: WaveRole) {
	const ran = await toResult(async () => await runRole(context, node, role));
	if (ran.ok) return ran.value;
	if (termsOf(context)?.errors !== 'none') throw ran.error;
	return [[{ json: { error: (ran.error as Error).message } }]];
}

async function runRole(
	context: IExecuteFunctions,
	node: CreatingNode,
	role: WaveRole,
): Promise<INodeExecutionData[][]> {
	const input = context.getInputData();
	const order = messageIn(input[0])?.order;
	if (!isState(order)) throw notOfBatch(context);
	if (role === 'sleep') {
		// The next node reports an order that cannot be read.
		if (isCurrent(order)) await context.putExecutionToWait(new Date(order.wakeAt));
		return [input];
	}
	// The wait comes first: the batch may be stopped meanwhile, and an error reads the data table.
	await n8nStarted(context);
	const found = await toResult(async () => await stepOf(context, order));
	if (!found.ok) return [[failureItem(found.error)]];
	const step = found.value;
	if (step === null) {
		const ids = Object.values(order.unrecorded ?? {}).map((row) => row.generation_id);
		const what = `"${order.step}" was stopped. Charged, and not in the data table`;
		if (ids.length > 0) context.logger.warn(`${what}: ${ids.join(', ')}`, { generations: ids });
		return [[messageItem({ stopped: true })]];
	}
	const plans = await planItems(step, (itemIndex) => node.plan(step, itemIndex));
	const planned = plans.flatMap((plan) => (plan.ok ? plan.value : []));
	if (role === 'work') {
		const work = async (awake: IExecuteFunctions) => await runWave(awake, planned, order);
		const { result, stopped } = await unlessStopped(step, order, work);
		if (!stopped) return [[messageItem({ report: result.report })]];
		// The last chance to write the generations that the table did not take.
		await toResult(async () => await rowsOf(step, [], Object.values(result.report.unrecorded)));
		return [[messageItem({ report: { ...result.report, over: true, stopped: true } })]];
	}
	const deliver = async (awake: IExecuteFunctions) => await results(awake, plans, order);
	const { result: outputs } = await unlessStopped(step, order, deliver);
	// n8n runs no node after one without output.
	return outputs.flat().length > 0 ? outputs : [[messageItem({ empty: true })]];
}
