import type { INodeExecutionData, NodeApiError } from 'n8n-workflow';

import { secretOf } from '../helper-workflow';
import { n8nStarted } from './n8n-start';
import { deliver } from './deliver';
import { notAsleep, otherVersion } from './failure';
import {
	isState,
	messageIn,
	roleOf,
	ROLE_PARAMETER,
	STORED_VERSION,
	type Role,
	type NodeProfile,
} from './state';
import { firstSleep } from './wave';
import { supervise, type HelperContext } from './supervise';
import type { Step } from '../step';

/** True if a node runs in a helper workflow of a step that sleeps, and not in a workflow of the user. */
export function isHelper({ node }: Pick<Step, 'node'>): boolean {
	return (node.parameters?.[ROLE_PARAMETER] ?? '') !== '';
}

/**
 * Runs a node of a helper workflow. The role in its hidden parameter (`ROLE_PARAMETER`) says what the node does.
 *
 * @returns the items of the node's output
 * @throws NodeApiError: the error that the step must end with
 */
export async function runAsHelper(
	helper: Step,
	profile: NodeProfile,
): Promise<INodeExecutionData[][]> {
	const role = roleOf(helper.node.parameters[ROLE_PARAMETER]);
	const context = helper.n8n.getContext('flow') as HelperContext;
	const state = context.state ?? messageIn(helper.items[0])?.state;
	const isOurs = isState(state) && state.v === STORED_VERSION && secretOf(helper) !== null;
	if (role === null || !isOurs) throw await foreign(helper, role, profile);
	if (role === 'sleep') return await firstSleep(helper, state);
	if (role === 'deliver') return await deliver(helper, state, profile);
	return await supervise(helper, role, state, profile);
}

/**
 * The error of a node with an unknown role or state, or without a secret. Either another release has stored the step, or the
 * workflow is not a helper workflow. Reads the state only from the node's own execution, and never from the node's input:
 * any workflow could put a false state there, to read a step of another workflow.
 */
async function foreign(
	helper: Step,
	role: Role | null,
	profile: NodeProfile,
): Promise<NodeApiError> {
	await n8nStarted(helper, !profile.createsNothing);
	const { state } = helper.n8n.getContext('flow') as HelperContext;
	// Only the last node of `guardWorkflow` ends the step. Its role is `return`, or `null` if another release built the node.
	const isEnd = role === null || role === 'return';
	return isEnd && isState(state)
		? await otherVersion(helper, state.execution, profile)
		: notAsleep(helper, profile);
}
