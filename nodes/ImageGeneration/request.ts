import { creationPlans } from '../shared/form/creation';
import { entriesOf, readForm, type Values } from '../shared/form/form';
import type { Plan } from '../shared/form/plan-items';
import { referenceInputs } from '../shared/form/reference-inputs';
import { IMAGE_TIMEOUT, imageFields } from './fields';
import type { Step } from '../shared/step';

const entries = entriesOf(imageFields);

/** Reads and validates one item's parameters (spec 4.1). Throws InvalidInputError. */
export async function planImage(step: Step, itemIndex: number): Promise<Plan[]> {
	const values = readForm(step, itemIndex, entries);
	return creationPlans(step, itemIndex, values, {
		type: 'image',
		entries,
		alsoSent: ['referenceInputs'],
		defaultTimeout: IMAGE_TIMEOUT,
		inputs: await referenceInputs(step, itemIndex, values.referenceInputs as Values[] | null),
	});
}
