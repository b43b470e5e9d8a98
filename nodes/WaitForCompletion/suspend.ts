import {
	summarizeDynamicCredentialsUsage,
	type GenericValue,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';

import { attempt } from '../../client/basics/attempt';
import { savedChecks, type LastLooks } from '../../client/watching/looks';
import { wallClock } from '../shared/clock';
import { hasErrorOutput, isSaved, runsAsTool } from '../shared/execution';
import { optionsOf } from '../shared/parameters';
import { hint } from '../shared/report';
import { runStep, type Suspension } from '../shared/step';
import { errorOfInput, modeOfFirst, planWait, type WaitPlan } from './request';
import { sleepingWorkflow, type SleepingItem } from './sleeping-workflow';
import { LEAST_TIMEOUT_MS, SHORTEST_NAP_MS } from './suspend-schedule';

/**
 * The suspended wait. A node that puts its execution to sleep is not run again when it wakes (n8n hands its input on),
 * so the checking is done by a helper workflow: check, and while something is unfinished sleep and check again.
 * The step's execution sleeps in n8n's database until that workflow has ended, and hands on what it came to.
 */

/**
 * How the step is to suspend. `undefined` where its mode is another, or where it has to poll: then a hint says why.
 */
export function suspensionOf(context: IExecuteFunctions): Suspension | undefined {
	if (modeOfFirst(context) !== 'suspend') return undefined;
	const reason = whyNotSuspend(context);
	if (reason !== null) {
		hint(context, `Polled instead of suspending, because ${reason}`);
		return undefined;
	}
	const waitingSince = wallClock.now();
	return {
		afterMs: SHORTEST_NAP_MS,
		leastTimeoutMs: LEAST_TIMEOUT_MS,
		sleep: async (looks) => {
			const slept = await attempt(async () => await sleepUntilEnded(context, waitingSince, looks));
			if (slept.ok) return slept.value;
			const { message } = slept.error as Error;
			hint(context, `Polled instead of suspending, because it could not fall asleep: ${message}`);
			const plan = (itemIndex: number) => goOn(planWait(context, itemIndex), waitingSince);
			return await runStep(context, plan, { looks });
		},
	};
}

/** The plan of an item that has been waited for already. */
function goOn(plan: WaitPlan, waitingSinceMs: number): WaitPlan {
	return { ...plan, job: { ...plan.job, waitingSinceMs } };
}

function sleepingItem(
	context: IExecuteFunctions,
	itemIndex: number,
	waitingSince: number,
): SleepingItem {
	const parameter = (name: string, fallback: string | boolean) =>
		context.getNodeParameter(name, itemIndex, fallback) as GenericValue;
	return {
		...errorOfInput(context, itemIndex),
		generationId: parameter('generationId', ''),
		downloadOutput: parameter('downloadOutput', true),
		binaryPropertyName: parameter('binaryPropertyName', 'data'),
		options: optionsOf(context, itemIndex) as IDataObject,
		waitingSince,
	};
}

/** Why a step cannot suspend and has to poll; `null` where it can. */
function whyNotSuspend(context: IExecuteFunctions): string | null {
	if (!wakesWithOutcome()) return 'n8n hands on what a sleep has come to only from release 2.31 on';
	if (runsAsTool(context)) return 'a tool of an AI agent cannot sleep';
	if (!isSaved(context.getWorkflow().id) || !isSaved(context.getExecutionId())) {
		return 'the workflow has not been saved';
	}
	if (hasErrorOutput(context))
		return 'n8n cannot route failed items to the error output after a sleep';
	return null;
}

/**
 * Whether a step that was put to sleep gets what its small workflow came to, its error too. n8n 1 hands on the step's
 * input instead, and n8n 2 did so after an error at first. No release tells a node its version, so this looks for what
 * n8n itself uses where it hands the outcome over (since 2.31).
 */
function wakesWithOutcome(): boolean {
	return typeof summarizeDynamicCredentialsUsage === 'function';
}

/**
 * Puts the execution to sleep until all generations have ended or their timeouts have passed.
 *
 * @returns what the small workflow came to where it did not have to sleep; else n8n drops it
 * @throws what n8n refuses to run it with, or what it failed with before it had to sleep
 */
async function sleepUntilEnded(
	context: IExecuteFunctions,
	waitingSince: number,
	looks: LastLooks,
): Promise<INodeExecutionData[][]> {
	const items = context
		.getInputData()
		.map((_, itemIndex) => sleepingItem(context, itemIndex, waitingSince));
	items[0].checks = savedChecks(looks);
	const { id: workflowId = '' } = context.getWorkflow();
	const { data, waitTill } = await context.executeWorkflow(
		{ code: sleepingWorkflow(context.getNode(), items) },
		items.map((json) => ({ json })),
		undefined,
		{
			parentExecution: { executionId: context.getExecutionId(), workflowId, shouldResume: true },
			executionMode: context.getMode(),
		},
	);
	// It sleeps: n8n drops what is handed on now, but Retry On Fail runs a step again whose first item has an error.
	if (waitTill) return [[]];
	return [data?.[0] ?? []];
}
