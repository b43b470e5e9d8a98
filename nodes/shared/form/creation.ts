import { numbered } from '../../../client/jobs/job';
import type { CreateRequest } from '../../../client/api/client';
import { isObject, withAdditionalFields } from './additional-fields';
import { integer, integerWithin, requiredText } from './checks';
import { MOST_OUTPUTS } from './fields';
import { collection, type Form } from './form';
import { requireIncludeOption } from './include-option';
import { requireKeyScope } from './key-scope';
import {
	triesOf,
	booleanOr,
	choiceOf,
	downloadTarget,
	idempotencyKeyOf,
	isSet,
	recipeOf,
	waitingOf,
} from './parameters';
import type { Plan } from './plan-items';
import { stepOptions } from './step-options';
import type { Step } from '../step';

/** Code that the creating nodes share. All functions throw `InvalidInputError`. */

/** The fields that every creating request needs. */
export function modelAndPrompt(form: Form) {
	return {
		model: requiredText('Model', form.model),
		prompt: requiredText('Prompt', form.prompt),
	};
}

/** What a creating node requests for an item. */
interface Draft {
	/** The request of the first output, without its reference inputs. */
	request: CreateRequest;
	/** Seconds. */
	defaultTimeout: number;
	/** Plural of what is created, in title case. */
	noun: string;
	/** Loads the reference inputs when a request is due. */
	loadInputs?: () => Promise<object[]>;
}

/**
 * Builds the plans of an item from its creating request, one for each output.
 *
 * @throws InvalidInputError
 */
export function creationPlans(
	step: Step,
	itemIndex: number,
	form: Form,
	{ request, defaultTimeout, noun, loadInputs }: Draft,
): Plan[] {
	const options = collection(form, 'options');
	const body = isSet(options.additionalFields)
		? withAdditionalFields(request.body, options.additionalFields)
		: request.body;
	const runOptions = collection(form, 'runOptions');
	const idempotencyKey = idempotencyKeyOf(step, itemIndex, options);
	if (idempotencyKey !== null) requireKeyScope(step, options);
	const wait = booleanOr(true, 'Wait for Completion', form.waitForCompletion);
	const outputs = integerWithin(`Number of ${noun}`, form.numberOfOutputs ?? 1, 1, MOST_OUTPUTS);
	// Only rejects invalid values. The step reads its settings once, mostly from the first item, and each output item
	// reads its own include option.
	stepOptions(runOptions);
	choiceOf(runOptions, 'whileWaiting');
	requireIncludeOption(options);
	const shared = {
		itemIndex,
		itemCount: step.items.length,
		recipe: () => recipeOf(step, itemIndex),
		wait,
		readiness: choiceOf(runOptions, 'readiness'),
		onUncertainCharge: choiceOf(runOptions, 'onUncertainCharge'),
		...triesOf(runOptions, requiredText('Model', form.model)),
		...waitingOf(step, runOptions, defaultTimeout),
	};
	const download = wait ? downloadTarget(form, options) : null;
	return Array.from({ length: outputs }, (_, outputIndex) => {
		const draft = { ...request, body: withSeed(body, outputIndex) };
		return {
			job: {
				kind: 'create',
				outputIndex,
				draft,
				request: async () => await withInputs(draft, loadInputs),
				idempotencyKey: idempotencyKey && numbered(idempotencyKey, outputIndex),
				...shared,
			},
			keyIsEmpty: 'idempotencyKey' in options && idempotencyKey === null,
			download,
		};
	});
}

async function withInputs(
	draft: CreateRequest,
	load?: () => Promise<object[]>,
): Promise<CreateRequest> {
	const inputs = (await load?.()) ?? [];
	return inputs.length > 0 ? { ...draft, body: { ...draft.body, inputs } } : draft;
}

/** A given seed counts up with each output: the same seed would create the same image again (spec 4.1, 4.2). */
function withSeed(body: object, outputIndex: number): object {
	const { seed, parameters } = body as { seed?: unknown; parameters?: unknown };
	return {
		...body,
		...(typeof seed === 'number' && { seed: integer('Seed', seed + outputIndex) }),
		...(isObject(parameters) && { parameters: withSeed(parameters, outputIndex) }),
	};
}
