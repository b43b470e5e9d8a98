import type { IExecuteFunctions } from 'n8n-workflow';

import { aspectRatio, fetchableUrls, integer, plainText, size } from '../../client/input/checks';
import { creationPlan, modelAndPrompt } from '../shared/creation';
import { filledIn, optionsOf } from '../shared/parameters';
import { referenceInputs } from '../shared/reference-inputs';
import type { Plan } from '../shared/step';

/** Seconds. */
export const IMAGE_TIMEOUT = 600;

/**
 * Reads and checks one item's parameters (spec 4.1).
 *
 * @throws InvalidInputError
 */
export function planImage(context: IExecuteFunctions, itemIndex: number): Plan {
	const options = optionsOf(context, itemIndex);
	const parameters = filledIn({
		aspect_ratio: [options.aspectRatio, (value) => aspectRatio('Aspect Ratio', value)],
		negative_prompt: [options.negativePrompt, (value) => plainText('Negative Prompt', value)],
		seed: [options.seed, (value) => integer('Seed', value)],
	});
	const body = {
		...modelAndPrompt(context, itemIndex),
		...filledIn({
			size: [context.getNodeParameter('size', itemIndex, ''), (value) => size('Size', value)],
			edit_mode: [options.editMode, (value) => plainText('Edit Mode', value)],
			input_images: [options.inputImages, (value) => fetchableUrls('Input Image URL', value)],
		}),
		...(Object.keys(parameters).length > 0 && { parameters }),
	};
	const loadInputs = referenceInputs(context, itemIndex);
	return creationPlan(context, itemIndex, options, IMAGE_TIMEOUT, async () => {
		const inputs = await loadInputs();
		return { type: 'image', body: inputs.length > 0 ? { ...body, inputs } : body };
	});
}
