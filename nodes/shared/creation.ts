import { requiredText } from '../../client/input/checks';
import type { CreateRequest } from '../../client/wire/service';
import { collection, type Form } from './form';
import {
	downloadTarget,
	onUncertainChargeOf,
	readinessOf,
	stepOptions,
	textIfGiven,
	waitingOf,
	yesOrNo,
} from './parameters';
import type { Plan } from './step';

/** What the nodes that create have in common. All throw `InvalidInputError`. */

/** What every creating request has to have. */
export function modelAndPrompt(form: Form) {
	return {
		model: requiredText('Model', form.model),
		prompt: requiredText('Prompt', form.prompt),
	};
}

/**
 * An item's creating request as a plan.
 *
 * @param draft the request without its reference inputs
 * @param loadInputs reads those when the request is due
 */
export function creationPlan(
	form: Form,
	defaultTimeout: number,
	draft: CreateRequest,
	loadInputs: () => Promise<object[]> = async () => await Promise.resolve([]),
): Plan {
	const options = collection(form, 'options');
	const idempotencyKey = textIfGiven('Idempotency Key', options.idempotencyKey);
	const wait = yesOrNo('Wait for Completion', form.waitForCompletion);
	// Every item is checked, although the step reads these from its first item.
	stepOptions(options);
	return {
		job: {
			kind: 'create',
			draft,
			request: async () => {
				const inputs = await loadInputs();
				return inputs.length > 0 ? { ...draft, body: { ...draft.body, inputs } } : draft;
			},
			idempotencyKey,
			wait,
			readiness: readinessOf(options),
			onUncertainCharge: onUncertainChargeOf(options),
			...waitingOf(options, defaultTimeout),
		},
		keyIsEmpty: 'idempotencyKey' in options && idempotencyKey === null,
		download: wait ? downloadTarget(form, options) : null,
	};
}
