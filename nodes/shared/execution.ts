import { randomUUID } from 'crypto';
import type { IDataObject, IExecuteFunctions, ILoadOptionsFunctions } from 'n8n-workflow';

import type { GenerationType } from '../../client/api/generation';
import type { Debug } from '../../client/ports';
import { Journal, type StoredOrders } from '../../client/orders/journal';

/** Facts about the execution that a step runs in. */

/**
 * The signal of the user's Stop and the workflow's timeout. Older n8n releases and list searches have none: the
 * returned signal then never aborts.
 */
export function cancelSignal(context: IExecuteFunctions | ILoadOptionsFunctions): AbortSignal {
	const signal =
		'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal?.() : undefined;
	return signal ?? new AbortController().signal;
}

/** True if an AI agent runs the node as its tool. A tool returns JSON only. */
export function runsAsTool(
	context: Pick<IExecuteFunctions, 'getNode'> & Partial<Pick<IExecuteFunctions, 'isToolExecution'>>,
): boolean {
	return context.isToolExecution?.() === true || context.getNode().type.endsWith('Tool');
}

/** What a creating node creates. As a tool, its type has another ending. */
export function typeCreatedBy(context: Pick<IExecuteFunctions, 'getNode'>): GenerationType {
	return /\.videoGeneration(Tool)?$/.test(context.getNode().type) ? 'video' : 'image';
}

/** Writes into n8n's debug log, with the name of the node. Some contexts of older releases have no logger. */
export function debugLog(
	context: Pick<IExecuteFunctions, 'getNode'> & Partial<Pick<IExecuteFunctions, 'logger'>>,
): Debug {
	const { name } = context.getNode();
	return (line) => context.logger?.debug?.(`"${name}": ${line}`);
}

/** True if failed items become output items: On Error is one of the two "Continue" settings. */
export function continuesOnError(context: IExecuteFunctions): boolean {
	return context.continueOnFail();
}

/** True if failed items go to an error output. */
export function hasErrorOutput(context: IExecuteFunctions): boolean {
	return context.getNode().onError === 'continueErrorOutput';
}

/**
 * True if a workflow or an execution has an id. Until it is saved, n8n uses a placeholder of the form
 * `__WORD__`.
 */
export function isSaved(id: string | undefined): boolean {
	return id !== undefined && id !== '' && !/^__[A-Z]+__$/.test(id);
}

/** The orders of this execution and node. n8n saves the node's context with the execution. */
export function journalOf(context: IExecuteFunctions): Journal {
	const kept = context.getContext('node') as IDataObject & {
		generations?: StoredOrders;
		/** Created by the first attempt. "Retry execution" has a new execution id but the same context. */
		token?: string;
	};
	kept.generations ??= {};
	kept.token ??= randomUUID();
	return new Journal(kept.generations, runIndex(context), kept.token);
}

/** The run index of the first attempt of an agent's call, by the arguments object of that call. */
const firstAttempts = new WeakMap<object, number>();

/**
 * The run index of the node. As a tool, every attempt has a new run index, but the attempts of one call share their
 * arguments.
 */
function runIndex(context: IExecuteFunctions): number {
	const { $runIndex = 0 } = context.getWorkflowDataProxy(0) as { $runIndex?: number };
	const [call] = context.getInputData();
	if (!call || !runsAsTool(context)) return $runIndex;
	const first = firstAttempts.get(call.json) ?? $runIndex;
	firstAttempts.set(call.json, first);
	return first;
}

/** True if the step runs by hand in the editor. */
export function runsByHand(context: Partial<Pick<IExecuteFunctions, 'getMode'>>): boolean {
	return context.getMode?.() === 'manual';
}

/** True if the step runs in a case of an evaluation, or in a sub-workflow of one. */
export function isEvaluated(context: IExecuteFunctions): boolean {
	if (context.getMode?.() === 'evaluation') return true;
	// The mode of a sub-workflow is another one.
	const { $evaluation } = context.getWorkflowDataProxy(0) as { $evaluation?: unknown };
	return Boolean($evaluation);
}
