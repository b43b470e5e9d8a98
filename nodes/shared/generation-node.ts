import type { INodeExecutionData } from 'n8n-workflow';

import { whileWaitingOf } from './form/step-options';
import { runNode } from './run/run-node';
import { beginBatch } from './sleep/batch';
import { beginSleep } from './sleep/begin';
import { isHelper, runAsHelper } from './sleep/roles';
import type { NodeProfile } from './sleep/state';
import { evaluatingOnce, type Step } from './step';

/**
 * Runs a node that creates generations or waits for them. In the user's workflow, the node is a step, which may sleep if
 * `sleeps` is true. In a helper workflow, the node does a part of the work of a step that sleeps.
 */
export async function runGenerationNode(
	step: Step,
	profile: NodeProfile,
	sleeps = whileWaitingOf(step) === 'suspend',
): Promise<INodeExecutionData[][]> {
	if (isHelper(step)) return await runAsHelper(step, profile);
	if (!sleeps) return await runNode(step, profile.plan);
	const begin = profile.createsNothing ? beginSleep : beginBatch;
	return await runNode(
		evaluatingOnce(step),
		profile.plan,
		async (once, ...planned) => await begin(once, profile, ...planned),
	);
}
