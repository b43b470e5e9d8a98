import { requiredText } from '../../../client/input';
import type { CreateRequest } from '../../../client/api/client';
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
import type { Plan } from './plan';

/** Code that the creating nodes share. All functions throw `InvalidInputError`. */

/** The fields that every creating request needs. */
export function modelAndPrompt(form: Form) {
	return {
		model: requiredText('Model', form.model),
		prompt: requiredText('Prompt', form.prompt),
	};
}

/**
 * Builds the plan of an item from its creating request.
 *
 * @param defaultTimeout seconds
 * @param draft the request without its reference inputs
 * @param loadInputs loads the reference inputs when the request is due
 * @throws InvalidInputError
 */
export function creationPlan(
	form: Form,
	defaultTimeout: number,
	draft: CreateRequest,
	loadInputs: () => Promise<object[]> = async () => await Promise.resolve([]),
): Plan {
	const options = collection(form, 'options');
	const runOptions = collection(form, 'runOptions');
	const idempotencyKey = textIfGiven('Idempotency Key', options.idempotencyKey);
	const wait = yesOrNo('Wait for Completion', form.waitForCompletion);
	// Validates these options on every item, although the step uses those of its first item.
	stepOptions(runOptions);
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
			readiness: readinessOf(runOptions),
			onUncertainCharge: onUncertainChargeOf(runOptions),
			...waitingOf(runOptions, defaultTimeout),
		},
		keyIsEmpty: 'idempotencyKey' in options && idempotencyKey === null,
		download: wait ? downloadTarget(form, options) : null,
	};
}
