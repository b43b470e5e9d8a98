import type { IExecuteFunctions } from 'n8n-workflow';

import {
	duration,
	fetchableUrl,
	fetchableUrls,
	FRAME_RATES,
	integer,
	oneOf,
	plainText,
	RESOLUTIONS,
} from '../../client/input/checks';
import { creationPlan, modelAndPrompt } from '../shared/creation';
import { filledIn, optionsOf } from '../shared/parameters';
import type { Plan } from '../shared/step';

/** Seconds. */
export const VIDEO_TIMEOUT = 1800;

/**
 * Reads and checks one item's parameters (spec 4.2).
 *
 * @throws InvalidInputError
 */
export function planVideo(context: IExecuteFunctions, itemIndex: number): Plan {
	const options = optionsOf(context, itemIndex);
	const parameter = (name: string) => context.getNodeParameter(name, itemIndex, '');
	const body = {
		...modelAndPrompt(context, itemIndex),
		...filledIn({
			resolution: [parameter('resolution'), (value) => oneOf('Resolution', value, RESOLUTIONS)],
			duration: [parameter('duration'), (value) => duration('Duration', value)],
			fps: [parameter('fps'), (value) => oneOf('Frames per Second', value, FRAME_RATES)],
			image_url: [parameter('imageUrl'), (value) => fetchableUrl('Input Image URL', value)],
			negative_prompt: [options.negativePrompt, (value) => plainText('Negative Prompt', value)],
			seed: [options.seed, (value) => integer('Seed', value)],
			input_images: [options.inputImages, (value) => fetchableUrls('Input Image URL', value)],
		}),
	};
	return creationPlan(context, itemIndex, options, VIDEO_TIMEOUT, async () => ({
		type: 'video',
		body,
	}));
}
