import { aspectRatio, integer, requiredText, size } from '../shared/form/checks';
import { creationPlans, modelAndPrompt } from '../shared/form/creation';
import { collection, readForm } from '../shared/form/form';
import { checkedFields } from '../shared/form/parameters';
import { referenceInputs } from '../shared/form/reference-inputs';
import type { Plan } from '../shared/form/plan-items';
import { fetchableUrl, urlList } from '../shared/form/urls';
import { IMAGE_TIMEOUT, imageFields } from './fields';
import type { Step } from '../shared/step';

/**
 * Reads and validates one item's parameters (spec 4.1).
 *
 * @returns for each output its creating request, its run settings and its download
 * @throws InvalidInputError
 */
export async function planImage(step: Step, itemIndex: number): Promise<Plan[]> {
	const form = readForm(step, itemIndex, imageFields);
	const options = collection(form, 'options');
	const parameters = checkedFields({
		aspect_ratio: [form.aspectRatio, (value) => aspectRatio('Aspect Ratio', value)],
		negative_prompt: [options.negativePrompt, (value) => requiredText('Negative Prompt', value)],
		seed: [options.seed, (value) => integer('Seed', value)],
	});
	const body = {
		...modelAndPrompt(form),
		...checkedFields({
			size: [options.size, (value) => size('Size', value)],
			edit_mode: [options.editMode, (value) => requiredText('Edit Mode', value)],
			input_images: [
				options.inputImages,
				(value) => urlList('Input Image URLs: URL', value, fetchableUrl),
			],
		}),
		...(Object.keys(parameters).length > 0 && { parameters }),
	};
	const loadInputs = await referenceInputs(step, itemIndex, form);
	return creationPlans(step, itemIndex, form, {
		request: { type: 'image', body },
		defaultTimeout: IMAGE_TIMEOUT,
		noun: 'Images',
		loadInputs,
	});
}
