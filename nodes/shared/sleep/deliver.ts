import type { INodeExecutionData } from 'n8n-workflow';

import { toResult } from '../../../client/async';
import { planItems } from '../form/plan-items';
import { termsOf } from '../helper-workflow';
import { n8nStarted } from './n8n-start';
import { awaitedStep, unlessStopped } from './executions';
import { failureItem } from './failure';
import { fetchResults } from './fetch-results';
import { messageItem, type NodeProfile, type SleepState } from './state';
import type { Step } from '../step';

/**
 * Fetches the results of a step that sleeps. If this function throws, n8n keeps this helper execution. So if the user's
 * workflow is set to keep no failed executions, the error is returned as `{ error }`, like the item that n8n returns for a
 * failed helper workflow (`deathIn`).
 *
 * @returns the output items of the step; an item with a `Message` if the step has none, has failed or was stopped
 */
export async function deliver(
	helper: Step,
	state: SleepState,
	profile: NodeProfile,
): Promise<INodeExecutionData[][]> {
	const delivered = await toResult(async () => await resultsOf(helper, state, profile));
	if (delivered.ok) return delivered.value;
	if (termsOf(helper)?.errors !== 'none') throw delivered.error;
	return [[{ json: { error: (delivered.error as Error).message } }]];
}

async function resultsOf(
	helper: Step,
	state: SleepState,
	profile: NodeProfile,
): Promise<INodeExecutionData[][]> {
	// The step is read only after this wait, because the user may stop it during the wait.
	await n8nStarted(helper, !profile.createsNothing);
	const step = await awaitedStep(helper, state);
	if (step === null) return [[messageItem({ stopped: true })]];
	const plans = await planItems(step, profile.plan);
	const { result: fetched } = await unlessStopped(
		step,
		state,
		async (awake) => await toResult(async () => await fetchResults(awake, plans, state)),
	);
	if (!fetched.ok) return [[failureItem(fetched.error, profile.howToGoOn)]];
	// n8n does not run a node that gets no items. So an empty output would end the waves' execution too early.
	return fetched.value.flat().length > 0 ? fetched.value : [[messageItem({ empty: true })]];
}
