import type { IExecuteFunctions } from 'n8n-workflow';

import {
	duration,
	FRAME_RATES,
	integer,
	oneOf,
	requiredText,
	RESOLUTIONS,
} from '../shared/form/checks';
import { creationPlans, modelAndPrompt } from '../shared/form/creation';
import { collection, readForm } from '../shared/form/form';
import { checkedFields } from '../shared/form/parameters';
import type { Plan } from '../shared/form/plan-items';
import { urlList, webUrl } from '../shared/form/urls';
import { VIDEO_TIMEOUT, videoFields } from './fields';

/**
 * Reads and validates one item's parameters (spec 4.2).
 *
 * @returns for each output its creating request, its run settings and its download
 * @throws InvalidInputError
 */
export function planVideo(context: IExecuteFunctions, itemIndex: number): Plan[] {
	const form = readForm(context, itemIndex, videoFields);
	const options = collection(form, 'options');
	const body = {
		...modelAndPrompt(form),
		...checkedFields({
			resolution: [form.resolution, (value) => oneOf('Resolution', value, RESOLUTIONS)],
			duration: [form.duration, (value) => duration('Duration', value)],
			fps: [options.fps, (value) => oneOf('Frames per Second', value, FRAME_RATES)],
			image_url: [form.imageUrl, (value) => webUrl('Input Image URL', value)],
			negative_prompt: [options.negativePrompt, (value) => requiredText('Negative Prompt', value)],
			seed: [options.seed, (value) => integer('Seed', value)],
			input_images: [
				options.inputImages,
				(value) => urlList('Input Image URLs: URL', value, webUrl),
			],
		}),
	};
	return creationPlans(context, itemIndex, form, {
		request: { type: 'video', body },
		defaultTimeout: VIDEO_TIMEOUT,
		noun: 'Videos',
	});
}
