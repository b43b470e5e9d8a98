import {
	summarizeDynamicCredentialsUsage,
	type GenericValue,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';

import { toResult } from '../../client/async';
import { errorOfJob } from '../../client/outcome';
import type { StatusChecks } from '../../client/watch/status-requests';
import { wallClock } from '../shared/http/clock';
import { keptInput } from '../shared/form/include-option';
import { evaluatedOptions, parameterOrNull } from '../shared/form/unvalidated';
import { planItems } from '../shared/form/plan-items';
import { runNode, type Suspension } from '../shared/run-node';
import { polledHint, whyNotSleep } from '../shared/suspend/can-sleep';
import { newTerms, runHelper } from '../shared/helper-workflow';
import { modeOfFirst, planWait } from './request';
import { sleepingWorkflow, type SleepingItem } from './sleeping-workflow';
import { LEAST_TIMEOUT_MS, SHORTEST_SLEEP_MS } from './suspend-schedule';

/**
 * The suspended wait.
 *
 * n8n does not run a node again after its execution wakes: it returns the node's input. A helper workflow
 * therefore does the status checks, and sleeps between them. The step's execution sleeps in n8n's database
 * until that workflow ends, and then returns its result.
 */

/**
 * Returns how to suspend the step. Returns `undefined` in another mode, or if the step must poll; a hint then
 * explains why.
 */
export function suspensionOf(context: IExecuteFunctions): Suspension | undefined {
	if (modeOfFirst(context) !== 'suspend') return undefined;
	const reason = whyNotSleep(context, wakesWithOutcome(), '2.31');
	if (reason !== null) {
		polledHint(context, reason);
		return undefined;
	}
	const waitingSince = wallClock.now();
	return {
		afterMs: SHORTEST_SLEEP_MS,
		leastTimeoutMs: LEAST_TIMEOUT_MS,
		sleep: async (checks) => {
			const slept = await toResult(
				async () => await sleepUntilEnded(context, waitingSince, checks),
			);
			if (slept.ok) return slept.value;
			const { message } = slept.error as Error;
			polledHint(context, `n8n could not suspend the execution: ${message}`);
			const plan = (itemIndex: number) => {
				const { job, ...others } = planWait(context, itemIndex);
				return [{ ...others, job: { ...job, waitingSinceMs: waitingSince } }];
			};
			return await runNode(context, plan, { checks });
		},
	};
}

function sleepingItem(
	context: IExecuteFunctions,
	itemIndex: number,
	waitingSince: number,
): SleepingItem {
	// An expression that fails is an error of its item, which is returned after the sleep.
	const parameter = (name: string, fallback: string | boolean) =>
		parameterOrNull(context, name, itemIndex, fallback) as GenericValue;
	const kept = keptInput(context, itemIndex);
	return {
		generationId: parameter('generationId', ''),
		mode: parameter('mode', 'poll'),
		downloadOutput: parameter('downloadOutput', true),
		options: evaluatedOptions(context, itemIndex, 'options') as IDataObject,
		runOptions: evaluatedOptions(context, itemIndex, 'runOptions') as IDataObject,
		...(kept && { otherFields: kept.json }),
		waitingSince,
	};
}

/**
 * True if n8n gives a suspended step the result of its helper workflow, errors included. n8n 1 returns the
 * step's input instead, and early n8n 2 releases did so after an error. Nodes cannot read n8n's version, so
 * this checks for a function that n8n itself uses for that result since 2.31.
 */
function wakesWithOutcome(): boolean {
	return typeof summarizeDynamicCredentialsUsage === 'function';
}

/**
 * Suspends the execution until all generations end or time out.
 *
 * @returns the result of the helper workflow if it did not have to sleep; otherwise n8n ignores the output
 * @throws n8n's error if it rejects the helper workflow
 * @throws the error of the helper workflow if it fails before it sleeps
 */
async function sleepUntilEnded(
	context: IExecuteFunctions,
	waitingSince: number,
	checks: StatusChecks,
): Promise<INodeExecutionData[][]> {
	const plans = await planItems(context, (itemIndex) => [planWait(context, itemIndex)]);
	const items = plans.map((plan, itemIndex) => ({
		...sleepingItem(context, itemIndex, waitingSince),
		...(!plan.ok && { rejected: errorOfJob(plan.error, null).fields as SleepingItem['rejected'] }),
	}));
	items[0].checks = Object.fromEntries(checks);
	const workflow = sleepingWorkflow(context.getNode(), items);
	// The helper execution owns the files. It must stay as long as they are needed.
	const hasFiles = plans.some((plan) => plan.ok && plan.value[0].download !== null);
	const output = await runHelper(
		context,
		workflow,
		items.map((json, itemIndex) => ({ json, binary: keptInput(context, itemIndex)?.binary })),
		newTerms(context, hasFiles),
	);
	// n8n ignores the output of a sleeping step. It must contain no error, because Retry On Fail would run
	// the step again.
	return [output ?? []];
}
