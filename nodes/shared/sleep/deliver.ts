import type { INodeExecutionData, IPairedItemData } from 'n8n-workflow';

import { isOutage, type GenerationError } from '../../../client/api/errors';
import { toResult, type Result } from '../../../client/async';
import { isBeyondLimit } from '../../../client/orders/spend-guard';
import { planItems } from '../form/plan-items';
import { termsOf } from '../helper-workflow';
import { wallClock } from '../http/clock';
import { causeOf } from '../output/node-error';
import { failureOf } from '../output/results';
import { n8nStarted } from './crash-recovery';
import { awaitedStep, unlessStopped } from './executions';
import { failureItem, notAsleep } from './failure';
import { fetchResults } from './fetch-results';
import type { Sleeper } from './sleeper';
import { COLLECTIONS, isState, messageIn, messageItem, type SleepState } from './state';
import type { Step } from '../step';

/**
 * Fetches the results of a step that sleeps. If an error is thrown, n8n keeps the execution. If the user's workflow keeps
 * no failed executions, the error is therefore returned, in an item like the one that n8n makes of the error of a failed
 * helper workflow.
 *
 * @returns the output items of the step, or a message
 */
export async function deliver(helper: Step, sleeper: Sleeper): Promise<INodeExecutionData[][]> {
	const delivered = await toResult(async () => await resultsOf(helper, sleeper));
	if (delivered.ok) return delivered.value;
	if (termsOf(helper)?.errors !== 'none') throw delivered.error;
	return [[{ json: { error: (delivered.error as Error).message } }]];
}

async function resultsOf(helper: Step, sleeper: Sleeper): Promise<INodeExecutionData[][]> {
	const state = messageIn(helper.items[0])?.state;
	if (!isState(state)) throw notAsleep(helper, sleeper);
	// Before the step is read: it may be stopped meanwhile, and the error of another release reads the data table.
	await n8nStarted(helper, !sleeper.createsNothing);
	const { step, failure } = await awaitedStep(helper, state, sleeper);
	if (failure) return [[failure]];
	if (step === null) return [[messageItem({ stopped: true })]];
	const plans = await planItems(step, sleeper.plan);
	const { result: fetched } = await unlessStopped(
		step,
		state,
		sleeper,
		async (awake) => await toResult(async () => await fetchResults(awake, plans, state)),
	);
	// The Timeout of a wait is a bound, also while the service is down.
	const mayWait = !sleeper.createsNothing && state.collections < COLLECTIONS;
	if (mayWait && hasOutage(fetched, state)) {
		return [[messageItem({ laterAt: wallClock.now() + PAUSE_MS })]];
	}
	if (!fetched.ok) return [[failureItem(fetched.error, sleeper.howToGoOn)]];
	// n8n runs no node after one without output.
	return fetched.value.flat().length > 0 ? fetched.value : [[messageItem({ empty: true })]];
}

/** The pause before the results are fetched again. */
const PAUSE_MS = 120_000;

/** True if a result is missing because the service or its storage is down. Errors of the waves do not count. */
function hasOutage(
	fetched: Result<INodeExecutionData[][]>,
	{ memory: { ends } }: SleepState,
): boolean {
	const hasEnded = Object.values(ends).some((end) => end && !isBeyondLimit(end));
	if (!fetched.ok) return !hasEnded && isDown(causeOf(fetched.error));
	return fetched.value.flat().some((item) => !ends[itemIndexOf(item)] && isDown(failureOf(item)));
}

function itemIndexOf({ pairedItem }: INodeExecutionData): number {
	return (pairedItem as IPairedItemData).item;
}

/** True if a later try may succeed. A file that is missing or has no URL does not count: it was waited for already. */
function isDown(error: GenerationError | undefined): boolean {
	if (!error || !isOutage(error)) return false;
	const { code, status, generation } = error;
	return code !== 'download_failed' || (generation?.url !== null && (status ?? 500) >= 500);
}
