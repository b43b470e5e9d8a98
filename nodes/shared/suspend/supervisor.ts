import type {
	IExecuteFunctions,
	INodeExecutionData,
	IWorkflowBase,
	NodeApiError,
} from 'n8n-workflow';

import { toResult } from '../../../client/async';
import { GenerationError } from '../../../client/api/errors';
import { cancelSignal, continuesOnError } from '../execution';
import { planItems, type Plan } from '../form/plan-items';
import { nodeError, stepError } from '../output/node-error';
import { outputItems } from '../output/results';
import { runHelper } from '../helper-workflow';
import {
	countDeath,
	deathIn,
	isCurrent,
	isState,
	messageIn,
	messageItem,
	MOST_DEAD,
	takeIn,
	type BatchRole,
	type BatchState,
	type Message,
} from './batch-state';
import { stepOf } from './batch-step';
import { resultsWorkflow, supervisor, wave } from './batch-workflows';
import { n8nStarted } from './crash-recovery';
import { otherVersion } from './other-version';
import { failureItem, lastKnown, throwFailure } from './results';

/**
 * Runs a node of the supervisor. Each node reads the result of the wave before it, and starts the next one. While a
 * wave runs, the supervisor sleeps.
 *
 * @param plan reads an item of the step
 * @throws NodeApiError as the step of the batch does
 */
export async function supervise(
	context: IExecuteFunctions,
	role: BatchRole,
	plan: (step: IExecuteFunctions, itemIndex: number) => Plan[] | Promise<Plan[]>,
): Promise<INodeExecutionData[][]> {
	const kept = context.getContext('flow') as { batch?: BatchState };
	kept.batch ??= messageIn(context.getInputData()[0])?.state;
	const state = kept.batch;
	if (!isState(state)) throw notOfBatch(context);
	const input = await readable(context, state);
	if (isResult(input[0])) {
		if (role !== 'return') return [input];
		const { failure, empty } = messageIn(input[0]) ?? {};
		throwFailure(context, failure);
		return [empty ? [] : input];
	}
	await listen(context, state, input[0]);
	// n8n also runs helper workflows after a stop.
	if (cancelSignal(context).aborted) return [[interrupted]];
	if (role === 'return') return await unfinished(context, state, plan);
	if (role === 'collect') {
		if (state.stopped || state.dead >= MOST_DEAD) return [[messageItem({})]];
		const code = resultsWorkflow(context.getNode(), state.step);
		state.collections++;
		return await start(context, code, { order: state });
	}
	if (state.over) return [[messageItem({})]];
	if (role === 'continueLater') {
		return await start(context, supervisor(context.getNode(), state.step), { state });
	}
	// A wave needs no errors, only which items are settled.
	const settled = Object.fromEntries(Object.keys(state.settled).map((index) => [index, null]));
	const code = wave(context.getNode(), state.step);
	return await start(context, code, { order: { ...state, settled } });
}

/** The input; the failure of the step if another release stored the state or the report, and this one cannot read it. */
async function readable(
	context: IExecuteFunctions,
	state: BatchState,
): Promise<INodeExecutionData[]> {
	const input = context.getInputData();
	if (isResult(input[0])) return input;
	const { report = state } = messageIn(input[0]) ?? {};
	if (isCurrent(state) && isCurrent(report)) return input;
	return [failureItem(await otherVersion(context, [state, report]))];
}

/** True for the output items or the failure of the step. */
function isResult(item: INodeExecutionData): boolean {
	const message = messageIn(item);
	if (!message) return deathIn(item) === null;
	return message.failure !== undefined || message.empty === true;
}

/** Reads the result of the execution that the node before this one started. */
async function listen(
	context: IExecuteFunctions,
	state: BatchState,
	item: INodeExecutionData,
): Promise<void> {
	const message = messageIn(item);
	// The node before this one has read the result.
	if (message && Object.keys(message).length === 0) return;
	await n8nStarted(context);
	if (message?.report) return takeIn(state, message.report);
	if (message?.stopped) state.stopped = state.over = true;
	if (message?.laterAt) state.wakeAt = message.laterAt;
	// If n8n lost the wave's result, it returns the wave's input: `order`.
	if (message && !message.order) return;
	countDeath(state, deathIn(item) ?? 'n8n gave no reason');
}

/** Starts a helper workflow, and sleeps until it ends. */
async function start(
	context: IExecuteFunctions,
	code: IWorkflowBase,
	message: Message,
): Promise<INodeExecutionData[][]> {
	const started = await toResult(
		async () => await runHelper(context, code, [messageItem(message)]),
	);
	if (!started.ok) return [[{ json: { error: (started.error as Error).message } }]];
	return [started.value ?? [interrupted]];
}

/** What a node returns after a stop. Only that of `Return` can become the result of the step (see `sleepingNode`). */
const interrupted: INodeExecutionData = {
	json: {
		error:
			'The helper execution of the batch was stopped. Run the same items again: charged generations are reused',
		error_code: 'wait_interrupted',
	},
};

/** The output of a step whose batch ended early: the step or a wave was stopped, or the batch was given up. */
async function unfinished(
	context: IExecuteFunctions,
	state: BatchState,
	plan: (step: IExecuteFunctions, itemIndex: number) => Plan[] | Promise<Plan[]>,
): Promise<INodeExecutionData[][]> {
	const step = await stepOf(context, state);
	// The step was stopped: nothing reads this output.
	if (step === null && state.stopped) return [[interrupted]];
	const error = endedEarly(state);
	if (step === null) throw nodeError(context, error, 0);
	const plans = await planItems(step, (itemIndex) => plan(step, itemIndex));
	const outcomes = await lastKnown(step, plans, state, error);
	if (!continuesOnError(step)) throw stepError(step, error, 0, outcomes);
	return [outputItems(step, outcomes)];
}

function endedEarly({ dead, lastDeath, stopped }: BatchState): GenerationError {
	const cause = stopped
		? 'a helper execution was stopped'
		: `${dead} helper executions in a row failed`;
	return new GenerationError({
		title: `The sleeping batch ended, and items may have been charged: ${cause}`,
		details: stopped ? '' : `The last of them ended with: ${lastDeath}`,
		description: stopped
			? 'Run the same items again: charged generations are reused.'
			: 'Fix the cause and run the same items again: charged generations are reused. To see where it fails, set While Waiting to Poll.',
		code: 'batch_interrupted',
		charge: 'unknown',
	});
}

/** The error of a node that is to run as a part of a sleeping batch, and is not in a helper workflow of one. */
export function notOfBatch(context: IExecuteFunctions): NodeApiError {
	const error = new GenerationError({
		title: 'The sleeping batch was not found, and items may have been charged',
		details:
			'Either it fell asleep with an older release of this package, or the hidden parameter batchRole is set in a workflow of your own',
		description: 'Run the same items again: charged generations are reused.',
		code: 'batch_interrupted',
		charge: 'unknown',
	});
	return nodeError(context, error, 0);
}
