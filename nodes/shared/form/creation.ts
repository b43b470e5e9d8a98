import { numbered } from '../../../client/jobs/job';
import type { CreateRequest } from '../../../client/api/client';
import type { GenerationType } from '../../../client/api/generation';
import { digest } from '../../../client/orders/table';
import { runsAsTool } from '../execution';
import { additionalFields, withAdditionalFields } from './additional-fields';
import { integer, integerWithin, isObject, isSet, requiredText, toText } from './checks';
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
	recipeOf,
	waitingOf,
} from './parameters';
import type { Plan } from './plan-items';
import type { Inputs } from './reference-inputs';
import { digestOfValues, type Requested, type RequestField } from './request-fields';
import { stepOptions } from './step-options';
import type { Step } from '../step';

/** Code that the creating nodes share. All functions throw `InvalidInputError`. */

/** The fields of both creating nodes that are sent. */
export const sharedRequest: RequestField[] = [
	{ name: 'model', label: 'Model', wire: 'model', required: true, check: requiredText },
	{ name: 'prompt', label: 'Prompt', wire: 'prompt', required: true, check: requiredText },
];

/** What a creating node requests for an item. */
interface Draft {
	type: GenerationType;
	/** The names of all fields that are sent, beside Additional Body Fields. */
	sent: string[];
	/** The fields of the first output, without its reference inputs. */
	requested: Requested;
	/** Seconds. */
	defaultTimeout: number;
	/** Plural of what is created, in title case. */
	noun: string;
	inputs?: Inputs;
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
	{ type, sent, requested, defaultTimeout, noun, inputs }: Draft,
): Plan[] {
	const options = collection(form, 'options');
	const added = isSet(options.additionalFields) ? additionalFields(options.additionalFields) : {};
	const body = withAdditionalFields(requested.body, added);
	const asked = digestOfValues(type, {
		...requested.values,
		...(inputs && inputs.identity.length > 0 && { referenceInputs: inputs.identity }),
		...(Object.keys(added).length > 0 && { 'options.additionalFields': added }),
	});
	const runOptions = collection(form, 'runOptions');
	const label = 'New Output If the Request Changes';
	const newOnChange = booleanOr(false, label, options.newOnChange);
	const givenKey = idempotencyKeyOf(step, itemIndex, options);
	const idempotencyKey =
		givenKey !== null && newOnChange ? keyOfRequest(givenKey, asked) : givenKey;
	if (idempotencyKey !== null) requireKeyScope(step, options);
	const wait = booleanOr(true, 'Wait Until Ready', form.waitForCompletion);
	const outputs = integerWithin(`Number of ${noun}`, form.numberOfOutputs ?? 1, 1, MOST_OUTPUTS);
	// Only rejects invalid values. The step reads its settings once, mostly from the first item, and each output item
	// reads its own include option.
	stepOptions(runOptions);
	choiceOf(runOptions, 'whileWaiting');
	requireIncludeOption(options);
	const shared = {
		itemIndex,
		itemCount: step.items.length,
		// n8n may evaluate parallel calls of an agent with the arguments of the first one.
		digest: runsAsTool(step) ? digest(toText([asked, step.items[itemIndex].json])) : asked,
		recipe: () => recipeOf(step, itemIndex, [...sent, 'options.additionalFields']),
		wait,
		readiness: choiceOf(runOptions, 'readiness'),
		onUncertainCharge: choiceOf(runOptions, 'onUncertainCharge'),
		...triesOf(runOptions, String(requested.values.model)),
		...waitingOf(step, runOptions, defaultTimeout),
	};
	const download = wait ? downloadTarget(form, options) : null;
	return Array.from({ length: outputs }, (_, outputIndex) => {
		const draft = { type, body: withSeed(body, outputIndex) };
		return {
			job: {
				kind: 'create',
				outputIndex,
				draft,
				request: async () => await withInputs(draft, inputs),
				idempotencyKey: idempotencyKey && numbered(idempotencyKey, outputIndex),
				...shared,
			},
			keyIsEmpty: 'idempotencyKey' in options && idempotencyKey === null,
			download,
		};
	});
}

async function withInputs(draft: CreateRequest, given?: Inputs): Promise<CreateRequest> {
	const inputs = (await given?.load()) ?? [];
	return inputs.length > 0 ? { ...draft, body: { ...draft.body, inputs } } : draft;
}

/** How many characters of the digest a key gets. Never changed: keys are stored. */
const DIGEST_IN_KEY = 16;

/** The idempotency key of an item that is created again if its request changes. */
function keyOfRequest(key: string, asked: string): string {
	return `${key} ${asked.slice(0, DIGEST_IN_KEY)}`;
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
