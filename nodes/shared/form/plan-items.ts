import { toResult, type Result } from '../../../client/async';
import type { Job } from '../../../client/jobs/job';
import { yieldBefore } from '../http/clock';
import type { Step } from '../step';

/** The validated parameters of one output of an item. */
export interface Plan {
	job: Job;
	/** Where the file goes; `null`: return JSON only. If `fileName` is `null`, the name is made from the prompt and the id. */
	download: { propertyName: string; fileName: string | null } | null;
	/** For the default file name: the request's prompt or, in Wait for Completion, the field `prompt` of the input item. */
	prompt?: unknown;
}

/** Reads and validates one item, and returns a plan for each of its outputs. Throws InvalidInputError. */
export type PlanItem = (step: Step, itemIndex: number) => Plan[] | Promise<Plan[]>;

/** Reads and validates all items, in order. Returns for each item its plans, or the error if the item is invalid. */
export async function planItems(step: Step, plan: PlanItem): Promise<Array<Result<Plan[]>>> {
	const plans: Array<Result<Plan[]>> = [];
	for (const itemIndex of step.items.keys()) {
		await yieldBefore(itemIndex);
		plans.push(await toResult(async () => await plan(step, itemIndex)));
	}
	return plans;
}
