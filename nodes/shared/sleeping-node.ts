import type { INodeExecutionData } from 'n8n-workflow';

import { whileWaitingOf } from './form/step-options';
import { runNode } from './run/run-node';
import { beginBatch } from './sleep/batch';
import { beginSleep } from './sleep/begin';
import { isHelper, runAsHelper } from './sleep/roles';
import type { Sleeper } from './sleep/state';
import { evaluatingOnce, type Step } from './step';

/**
 * Runs a node whose step may sleep: in the user's workflow, where it sleeps only if `sleeps` is true, or in a helper workflow
 * of a step that sleeps.
 */
export async function runSleepingNode(
	step: Step,
	sleeper: Sleeper,
	sleeps = whileWaitingOf(step) === 'suspend',
): Promise<INodeExecutionData[][]> {
	if (isHelper(step)) return await runAsHelper(step, sleeper);
	if (!sleeps) return await runNode(step, sleeper.plan);
	const begin = sleeper.createsNothing ? beginSleep : beginBatch;
	return await runNode(
		evaluatingOnce(step),
		sleeper.plan,
		async (once, ...planned) => await begin(once, sleeper, ...planned),
	);
}
