import {
	duration,
	FRAME_RATES,
	inlineSize,
	integer,
	invalid,
	oneOf,
	requiredText,
	RESOLUTIONS,
} from '../shared/form/checks';
import { creationPlans, modelAndPrompt } from '../shared/form/creation';
import { collection, readForm, type Form } from '../shared/form/form';
import { itemFile, knownSize, plainType } from '../shared/form/item-file';
import { checkedFields, isSet } from '../shared/form/parameters';
import type { Plan } from '../shared/form/plan-items';
import { signedFile } from '../shared/form/signed-file';
import { urlList, webUrl } from '../shared/form/urls';
import { VIDEO_TIMEOUT, videoFields } from './fields';
import type { Step } from '../shared/step';

/**
 * Reads and validates one item's parameters (spec 4.2).
 *
 * @returns for each output its creating request, its run settings and its download
 * @throws InvalidInputError
 */
export async function planVideo(step: Step, itemIndex: number): Promise<Plan[]> {
	const form = readForm(step, itemIndex, videoFields);
	const options = collection(form, 'options');
	const body = {
		...modelAndPrompt(form),
		...checkedFields({
			resolution: [form.resolution, (value) => oneOf('Resolution', value, RESOLUTIONS)],
			duration: [form.duration, (value) => duration('Duration', value)],
			fps: [options.fps, (value) => oneOf('Frames per Second', value, FRAME_RATES)],
			image_url: [await startImage(step, itemIndex, form), (value) => value],
			negative_prompt: [options.negativePrompt, (value) => requiredText('Negative Prompt', value)],
			seed: [options.seed, (value) => integer('Seed', value)],
			input_images: [
				options.inputImages,
				(value) => urlList('Input Image URLs: URL', value, webUrl),
			],
		}),
	};
	return creationPlans(step, itemIndex, form, {
		request: { type: 'video', body },
		defaultTimeout: VIDEO_TIMEOUT,
		noun: 'Videos',
	});
}

const UPLOAD_INSTEAD =
	'Or upload the file, for example with an S3 node, set Input Image to URL, and enter its URL.';

/** The image to animate: its URL, or a file of the item, which the service fetches from n8n. `null`: none. */
async function startImage(step: Step, itemIndex: number, form: Form) {
	const source = oneOf('Input Image', form.imageSource ?? 'url', ['url', 'binary'] as const);
	if (source === 'url') {
		return isSet(form.imageUrl) ? webUrl('Input Image URL', form.imageUrl) : null;
	}
	const file = itemFile(step, itemIndex, form.imageBinaryField, 'Input Image');
	const type = plainType(file);
	if (/^(audio|text|video)\//.test(type)) {
		throw invalid('Input Image', 'an image', type, 'Check which file Input Binary Field names.');
	}
	if (knownSize(file) === 0) inlineSize('Input Image', 0);
	return await signedFile(step, file, 'Input Image', UPLOAD_INSTEAD);
}
