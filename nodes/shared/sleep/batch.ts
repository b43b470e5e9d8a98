import type { INodeExecutionData } from 'n8n-workflow';

import { continuesOnError } from '../execution';
import { InvalidInputError } from '../form/checks';
import type { Plan } from '../form/plan-items';
import { keyOf } from '../record/record';
import { unsentErrors, type Failures } from '../run/run-node';
import type { NodeProfile } from './state';
import type { StepStart } from '../run/run-plans';
import type { Step } from '../step';
import { beginSleep } from './begin';
import { polledHint } from './can-sleep';

/** The profile of a node that creates generations. */
export function creatingProfile(node: Pick<NodeProfile, 'fields' | 'plan'>): NodeProfile {
	return {
		noun: 'sleeping batch',
		createsNothing: false,
		howToGoOn:
			'Run the same items in a new execution: charged generations are reused. If an item fails again, set On Error to Continue to get the others. Retry in the executions list only shows this error again',
		...node,
	};
}

/** Like `beginSleep`, but items without an idempotency key fail first, because a batch finds its items by their keys. */
export async function beginBatch(
	step: Step,
	profile: NodeProfile,
	start: StepStart,
	planned: Plan[],
	failures: Failures,
): Promise<INodeExecutionData[][] | null> {
	if (!planned.some(({ job }) => job.wait)) return null;
	for (const { job } of planned) {
		if (keyOf(job) !== null) continue;
		failures[job.itemIndex] = unsentErrors(start.journal, keyMissing(), job.itemIndex);
	}
	if (failures.flat().length > 0 && !continuesOnError(step)) return null;
	const several = planned.some(({ job }) => job.kind === 'create' && job.outputIndex);
	if (several)
		return polledHint(step, 'n8n cannot pair several outputs with one item after a sleep');
	return await beginSleep(step, profile, start, planned, failures);
}

function keyMissing(): InvalidInputError {
	return new InvalidInputError(
		'Sleep During Long Batches needs an Idempotency Key, and this item has none',
		'A batch that sleeps finds its generations by their idempotency keys. Add the option Idempotency Key with a different value for each item, such as {{ $json.id }}. Or set Sleep During Long Batches to No.',
	);
}
