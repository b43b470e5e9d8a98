import { aspectRatio, integer, requiredText, size } from '../shared/form/checks';
import { creationPlans, sharedRequest } from '../shared/form/creation';
import { readForm } from '../shared/form/form';
import { referenceInputs } from '../shared/form/reference-inputs';
import { requestedBy, type RequestField } from '../shared/form/request-fields';
import type { Plan } from '../shared/form/plan-items';
import { fetchableUrl, urlList } from '../shared/form/urls';
import { IMAGE_TIMEOUT, imageFields } from './fields';
import type { Step } from '../shared/step';

/** The fields that are sent (spec 4.1). */
const request: RequestField[] = [
	...sharedRequest,
	{ name: 'options.size', label: 'Size', wire: 'size', check: size },
	{ name: 'options.editMode', label: 'Kind of Edit', wire: 'edit_mode', check: requiredText },
	{
		name: 'options.inputImages',
		label: 'Input Image URLs: URL',
		wire: 'input_images',
		check: (label, value) => urlList(label, value, fetchableUrl),
	},
	{
		name: 'aspectRatio',
		label: 'Aspect Ratio',
		wire: 'parameters.aspect_ratio',
		check: aspectRatio,
	},
	{
		name: 'options.negativePrompt',
		label: 'Negative Prompt',
		wire: 'parameters.negative_prompt',
		check: requiredText,
	},
	{ name: 'options.seed', label: 'Seed', wire: 'parameters.seed', check: integer },
];

/**
 * Reads and validates one item's parameters (spec 4.1).
 *
 * @returns for each output its creating request, its run settings and its download
 * @throws InvalidInputError
 */
export async function planImage(step: Step, itemIndex: number): Promise<Plan[]> {
	const form = readForm(step, itemIndex, imageFields);
	return creationPlans(step, itemIndex, form, {
		type: 'image',
		sent: [...request.map(({ name }) => name), 'referenceInputs'],
		requested: requestedBy(request, form),
		defaultTimeout: IMAGE_TIMEOUT,
		noun: 'Images',
		inputs: await referenceInputs(step, itemIndex, form),
	});
}
