import type { INodeExecutionData } from 'n8n-workflow';

import { whileWaitingOf } from './form/step-options';
import { runNode } from './run/run-node';
import { beginBatch, sleepingBatch } from './sleep/batch';
import { beginSleep } from './sleep/begin';
import { isHelper, runAsHelper } from './sleep/roles';
import type { Sleeper } from './sleep/state';
import { evaluatingOnce, type Step } from './step';

/**
 * Runs a node whose step can sleep: as a step of the user's workflow, which polls or sleeps, or in a helper workflow of a
 * step that sleeps.
 *
 * @param suspends true if the step is set to sleep
 */
export async function runSleepingNode(
	step: Step,
	sleeper: Sleeper,
	suspends: boolean,
	begin = beginSleep,
): Promise<INodeExecutionData[][]> {
	if (isHelper(step)) return await runAsHelper(step, sleeper);
	if (!suspends) return await runNode(step, sleeper.plan);
	return await runNode(
		evaluatingOnce(step),
		sleeper.plan,
		async (once, ...planned) => await begin(once, sleeper, ...planned),
	);
}

/** Runs a node that creates generations. */
export async function runCreatingNode(
	step: Step,
	node: Pick<Sleeper, 'fields' | 'plan'>,
): Promise<INodeExecutionData[][]> {
	const suspends = whileWaitingOf(step) === 'suspend';
	return await runSleepingNode(step, sleepingBatch(node), suspends, beginBatch);
}
