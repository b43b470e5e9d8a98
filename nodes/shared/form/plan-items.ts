import type { IExecuteFunctions } from 'n8n-workflow';

import { attempt, type Attempt } from '../../../client/async';
import type { Job } from '../../../client/job';
import { runsAsTool } from '../execution';
import { wallClock } from '../http/clock';
import { recipeOf } from './parameters';
import type { Plan } from './plan';

/** Items to read before yielding to the event loop. n8n evaluates a few thousand items per second. */
const READ_AT_ONCE = 50;

export interface Planned extends Plan {
	job: Job;
}

/**
 * Reads and validates all items, in order.
 *
 * @param plan reads one item, and returns a plan for each of its outputs
 * @returns for each item its plans, or why it is invalid
 */
export async function planItems(
	context: IExecuteFunctions,
	plan: (itemIndex: number) => Plan[],
): Promise<Array<Attempt<Planned[]>>> {
	const tool = runsAsTool(context);
	const plans: Array<Attempt<Planned[]>> = [];
	const itemCount = context.getInputData().length;
	for (let itemIndex = 0; itemIndex < itemCount; itemIndex++) {
		if (itemIndex > 0 && itemIndex % READ_AT_ONCE === 0) await wallClock.sleep(0);
		const recipe = () => recipeOf(context, itemIndex);
		const planned = await attempt(async () =>
			plan(itemIndex).map(({ job, ...rest }) => ({
				...rest,
				job:
					job.kind === 'create'
						? { ...job, itemIndex, itemCount, recipe }
						: { ...job, itemIndex, itemCount },
				download: tool ? null : rest.download,
			})),
		);
		plans.push(planned);
	}
	return plans;
}
