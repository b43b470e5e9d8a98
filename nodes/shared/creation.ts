import type { IExecuteFunctions } from 'n8n-workflow';

import { oneOf, requiredText } from '../../client/input/checks';
import type { CreateRequest } from '../../client/wire/service';
import {
	downloadTarget,
	modelId,
	readinessOf,
	recipeOf,
	stepOptions,
	waitingOf,
	yesOrNo,
	type Options,
} from './parameters';
import type { Plan } from './step';

/** What the nodes that create have in common. All throw `InvalidInputError`. */

/** What every creating request has to have. */
export function modelAndPrompt(context: IExecuteFunctions, itemIndex: number) {
	return {
		model: modelId(context, 'model', itemIndex),
		prompt: requiredText('Prompt', context.getNodeParameter('prompt', itemIndex, '')),
	};
}

/**
 * An item's creating request as a plan.
 *
 * @param request builds it when its turn has come
 */
export function creationPlan(
	context: IExecuteFunctions,
	itemIndex: number,
	options: Options,
	defaultTimeout: number,
	request: () => Promise<CreateRequest>,
): Plan {
	const wait = yesOrNo(context, 'waitForCompletion', 'Wait for Completion', itemIndex);
	return {
		job: {
			kind: 'create',
			request,
			recipe: () => recipeOf(context, itemIndex),
			wait,
			readiness: readinessOf(options),
			onUncertainCharge: oneOf('On Uncertain Charge', options.onUncertainCharge ?? 'error', [
				'error',
				'resubmit',
			] as const),
			...waitingOf(options, defaultTimeout),
		},
		download: wait ? downloadTarget(context, itemIndex, options) : null,
		step: stepOptions(options),
	};
}
