import { randomUUID } from 'crypto';
import type { IDataObject } from 'n8n-workflow';

import { GENERATION_TYPES, type GenerationType } from '../../client/api/generation';
import type { Debug } from '../../client/ports';
import { Journal, type StoredOrders } from '../../client/orders/journal';
import { wallClock } from './http/clock';
import type { Caller, Step } from './step';

/** True if an AI agent runs the node as its tool. A tool returns JSON only. */
export function runsAsTool({ n8n, node }: Pick<Caller, 'n8n' | 'node'>): boolean {
	const isTool = 'isToolExecution' in n8n && n8n.isToolExecution?.() === true;
	return isTool || node.type.endsWith('Tool');
}

/** Returns what a node creates, from the name of its node type; `null` for a node that does not create. */
export function typeCreatedBy({ node }: Pick<Step, 'node'>): GenerationType | null {
	// `includes`, because n8n appends `Tool` to the type of a node that is an agent's tool.
	const isIn = (type: GenerationType) => node.type.includes(`.${type}Generation`);
	return GENERATION_TYPES.find(isIn) ?? null;
}

/** Writes into n8n's debug log, with the name of the node. Some contexts of older releases have no logger. */
export function debugLog({ n8n, node }: Pick<Caller, 'n8n' | 'node'>): Debug {
	return (line) => n8n.logger?.debug?.(`"${node.name}": ${line}`);
}

/** True if failed items become output items: On Error is one of the two "Continue" settings. */
export function continuesOnError({
	node: { onError, continueOnFail },
}: Pick<Step, 'node'>): boolean {
	if (onError === undefined) return continueOnFail ?? false;
	return onError !== 'stopWorkflow';
}

/** True if failed items go to an error output. */
export function hasErrorOutput({ node }: Pick<Step, 'node'>): boolean {
	return node.onError === 'continueErrorOutput';
}

/** True for the id of a saved workflow or execution. Unsaved ones have no id, or a placeholder of the form `__WORD__`. */
export function isSaved(id: string | undefined): boolean {
	return id !== undefined && id !== '' && !/^__[A-Z]+__$/.test(id);
}

/** Opens the journal of this node's creating requests. It is in the node's context, which n8n saves with the execution. */
export function journalOf(step: Step): Journal {
	const kept = step.n8n.getContext('node') as IDataObject & {
		generations?: StoredOrders;
		/**
		 * Stands for the execution in the `Idempotency-Key` headers of items without an idempotency key. "Retry execution"
		 * starts an execution with a new id, but the same token, so the headers stay the same.
		 */
		token?: string;
	};
	kept.generations ??= {};
	kept.token ??= randomUUID();
	return new Journal(kept.generations, firstAttempt(step).runIndex, kept.token);
}

/** The first attempt of each call by an AI agent. The key is the call's arguments object, which all its attempts share. */
const firstAttempts = new WeakMap<object, { runIndex: number; startedAt: number }>();

/**
 * Returns this attempt or, in a tool, the first attempt of the same call. n8n gives each attempt a new run index, but all
 * attempts of one call get the same arguments object (`json`). `startedAt`: milliseconds since the Unix epoch.
 */
export function firstAttempt(step: Step) {
	const { $runIndex = 0 } = step.n8n.getWorkflowDataProxy(0) as { $runIndex?: number };
	const attempt = { runIndex: $runIndex, startedAt: wallClock.now() };
	const [call] = step.items;
	if (!call || !runsAsTool(step)) return attempt;
	const first = firstAttempts.get(call.json) ?? attempt;
	firstAttempts.set(call.json, first);
	return first;
}

/** The abort reason of a step's signal when the time for an agent's call is over. Stop has another reason. */
export class CallOver extends Error {}

/** True if the step must end because the time for an agent's call is over. */
export function isCallOver({ signal }: Pick<Step, 'signal'>): boolean {
	return signal.reason instanceof CallOver;
}

/** True if the step runs by hand in the editor. */
export function runsByHand({ n8n }: Pick<Caller, 'n8n'>): boolean {
	return n8n.getMode?.() === 'manual';
}

/** True if the step runs in a test case of an n8n evaluation, or in a sub-workflow that the case calls. */
export function isEvaluated({ n8n }: Pick<Step, 'n8n'>): boolean {
	if (n8n.getMode?.() === 'evaluation') return true;
	// In a sub-workflow of the case, n8n reports another mode, but still sets `$evaluation`.
	const { $evaluation } = n8n.getWorkflowDataProxy(0) as { $evaluation?: unknown };
	return Boolean($evaluation);
}
