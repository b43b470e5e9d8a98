import type { INodeExecutionData } from 'n8n-workflow';

import { toResult } from '../../../client/async';
import { keptInput } from '../form/include-option';
import type { Plan } from '../form/plan-items';
import { addressOf } from '../http/transport';
import { newTerms, runHelper } from '../helper-workflow';
import { polledHint } from './can-sleep';
import type { Sleeper } from './sleeper';
import { messageItem, type SleepState } from './state';
import { keepParameters } from './kept-step';
import { guardWorkflow } from './workflows';
import type { Step } from '../step';

/** True if the output of a step may have files: those that it downloads, or those of its input items. */
export function hasFiles(step: Step, planned: Plan[]): boolean {
	const downloads = planned.some(({ download }) => download !== null);
	return downloads || step.items.some((_, index) => keptInput(step, index)?.binary);
}

/**
 * Lets the execution of a step sleep until its helper executions have ended. n8n then returns their result as the output
 * of the step.
 *
 * @param step evaluates each expression only once
 * @returns what the step returns; `null` if n8n refuses, and the step must go on by itself. A hint then says why
 */
export async function fallAsleep(
	step: Step,
	{ fields, noun }: Pick<Sleeper, 'fields' | 'noun'>,
	state: SleepState,
): Promise<INodeExecutionData[][] | null> {
	const address = await toResult(async () => await addressOf(step));
	const secret = keepParameters(step, fields, state.run, address.ok ? address.value : null);
	const guard = guardWorkflow({ node: step.node, step: state.step, noun });
	const terms = newTerms(step, secret);
	const slept = await toResult(
		async () => await runHelper(step, guard, [messageItem({ state })], terms),
	);
	// A step that sleeps returns no items: n8n ignores them, but Retry On Fail runs the step again if one has an error.
	if (slept.ok) return [slept.value.output ?? []];
	polledHint(step, `n8n could not suspend the execution: ${(slept.error as Error).message}`);
	return null;
}
