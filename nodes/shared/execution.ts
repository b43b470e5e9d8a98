import { randomUUID } from 'crypto';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { Entry } from '../../client/paying/book';
import { Ledger } from '../../client/paying/ledger';

/** What a step needs to know of the execution it runs in. */

/** A signal for the user's Stop and the workflow's timeout. Releases of n8n without it get one that never aborts. */
export function cancelSignal(context: IExecuteFunctions): AbortSignal {
	return context.getExecutionCancelSignal?.() ?? new AbortController().signal;
}

/** Whether an AI agent runs the node as its tool: it sees JSON only. */
export function runsAsTool(
	context: Pick<IExecuteFunctions, 'getNode'> & Partial<Pick<IExecuteFunctions, 'isToolExecution'>>,
): boolean {
	return context.isToolExecution?.() === true || context.getNode().type.endsWith('Tool');
}

/** Whether failed items go on as output items: On Error is one of the two "Continue" settings. */
export function continuesOnError(context: IExecuteFunctions): boolean {
	return context.continueOnFail();
}

/** Whether failed items go to an output of their own. */
export function hasErrorOutput(context: IExecuteFunctions): boolean {
	return context.getNode().onError === 'continueErrorOutput';
}

/** Whether a workflow or an execution has an id: n8n names what has none yet in capitals between underscores. */
export function isSaved(id: string | undefined): boolean {
	return id !== undefined && id !== '' && !/^__[A-Z]+__$/.test(id);
}

/**
 * Whether the node runs within a suspended wait. Its error is that of the step which sleeps, and n8n hands it out
 * again at every retry of that step without running it.
 */
export function isWithinSleep(context: Pick<IExecuteFunctions, 'getNodeParameter'>): boolean {
	return Number(context.getNodeParameter('waitingSince', 0, '')) > 0;
}

/** The ledger of this execution and node: n8n keeps the node's context with the execution. */
export function ledgerOf(context: IExecuteFunctions): Ledger {
	const kept = context.getContext('node') as IDataObject & {
		generations?: Record<string, Entry>;
		/** Made by the first try: "Retry execution" has another execution id, and the same context. */
		token?: string;
	};
	kept.generations ??= {};
	kept.token ??= randomUUID();
	return new Ledger(kept.generations, runIndex(context), kept.token);
}

/** The run in which an agent's call of the tool was first tried, by the arguments of that call. */
const firstTries = new WeakMap<object, number>();

/** Which run of the node this is. As a tool every try has a run index of its own, but one call's tries share its arguments. */
function runIndex(context: IExecuteFunctions): number {
	const { $runIndex = 0 } = context.getWorkflowDataProxy(0) as { $runIndex?: number };
	const [call] = context.getInputData();
	if (!call || !runsAsTool(context)) return $runIndex;
	const first = firstTries.get(call.json) ?? $runIndex;
	firstTries.set(call.json, first);
	return first;
}
