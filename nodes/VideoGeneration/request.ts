import type { IExecuteFunctions } from 'n8n-workflow';

import {
	duration,
	fetchableUrl,
	fetchableUrls,
	FRAME_RATES,
	integer,
	oneOf,
	plainText,
	requiredText,
	RESOLUTIONS,
} from '../../client/checks';
import type { CreateRequest } from '../../client/service';
import {
	downloadTarget,
	filledIn,
	modelId,
	optionsOf,
	runningOf,
	stepOptions,
	yesOrNo,
} from '../shared/parameters';
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
		model: modelId(context, 'model', itemIndex),
		prompt: requiredText('Prompt', parameter('prompt')),
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
	const request: CreateRequest = { type: 'video', body };
	const wait = yesOrNo(context, 'waitForCompletion', 'Wait for Completion', itemIndex);
	return {
		job: { request: async () => request, wait, ...runningOf(options, VIDEO_TIMEOUT) },
		download: wait ? downloadTarget(context, itemIndex, options) : null,
		step: stepOptions(options),
	};
}
