import type { INodeExecutionData } from 'n8n-workflow';

import { runNode } from '../shared/run/run-node';
import { beginSleep } from '../shared/sleep/begin';
import type { Sleeper } from '../shared/sleep/state';
import { type Step, evaluatingOnce } from '../shared/step';
import { waitFields } from './fields';
import { planWait } from './request';

/** The suspended wait: a step that sleeps, with nothing to create. */
export const suspendedWait: Sleeper = {
	noun: 'suspended wait',
	createsNothing: true,
	howToGoOn:
		'Wait for the same generations again by their IDs in a new execution, at no charge. Retry in the executions list only shows this error again, without a new status check',
	fields: waitFields,
	plan: planWait,
};

/** Runs a step of the user's workflow that is set to suspend. */
export async function runSuspended(step: Step): Promise<INodeExecutionData[][]> {
	return await runNode(
		evaluatingOnce(step),
		planWait,
		async (once, ...planned) => await beginSleep(once, suspendedWait, ...planned),
	);
}
