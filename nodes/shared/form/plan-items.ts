import { toResult, type Result } from '../../../client/async';
import type { Job } from '../../../client/jobs/job';
import { runsAsTool } from '../execution';
import { yieldBefore } from '../http/clock';
import type { DownloadTarget } from './parameters';
import type { Step } from '../step';

/** The validated parameters of one output of an item. */
export interface Plan {
	job: Job;
	/** `null`: return JSON only. */
	download: DownloadTarget | null;
	/** Names the file of a job that only collects: the prompt of its item. */
	prompt?: unknown;
	/** True if the option Idempotency Key was added but is empty. */
	keyIsEmpty?: boolean;
}

/** Reads and validates one item, and returns a plan for each of its outputs; throws `InvalidInputError`. */
export type PlanItem = (step: Step, itemIndex: number) => Plan[] | Promise<Plan[]>;

/**
 * Reads and validates all items, in order.
 *
 * @returns for each item its plans, or why it is invalid
 */
export async function planItems(step: Step, plan: PlanItem): Promise<Array<Result<Plan[]>>> {
	const tool = runsAsTool(step);
	const plans: Array<Result<Plan[]>> = [];
	const itemCount = step.items.length;
	for (let itemIndex = 0; itemIndex < itemCount; itemIndex++) {
		await yieldBefore(itemIndex);
		const planned = await toResult(async () =>
			(await plan(step, itemIndex)).map((one) => (tool ? { ...one, download: null } : one)),
		);
		plans.push(planned);
	}
	return plans;
}
