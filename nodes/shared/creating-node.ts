import type { INodeExecutionData } from 'n8n-workflow';

import { whileWaitingOf } from './form/step-options';
import { runNode } from './run/run-node';
import { runBatch, sleepingBatch, type CreatingNode } from './sleep/batch';
import { isHelper, runAsHelper } from './sleep/roles';
import type { Step } from './step';

/**
 * Runs a creating node: as a step of the user's workflow, which polls or sleeps, or in a helper workflow of a step that
 * sleeps.
 */
export async function runCreatingNode(
	step: Step,
	node: CreatingNode,
): Promise<INodeExecutionData[][]> {
	if (isHelper(step)) return await runAsHelper(step, sleepingBatch(node));
	if (whileWaitingOf(step) === 'suspend') return await runBatch(step, node);
	return await runNode(step, node.plan);
}
