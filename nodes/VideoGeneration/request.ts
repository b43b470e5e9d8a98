import {
	duration,
	FRAME_RATES,
	inlineSize,
	integer,
	invalid,
	isSet,
	oneOf,
	requiredText,
	RESOLUTIONS,
} from '../shared/form/checks';
import { creationPlans, sharedRequest } from '../shared/form/creation';
import { readForm, type Form } from '../shared/form/form';
import { fileIdentity, itemFile, knownSize, plainType } from '../shared/form/item-file';
import type { Plan } from '../shared/form/plan-items';
import { requestedBy, type Requested, type RequestField } from '../shared/form/request-fields';
import { signedFile } from '../shared/form/signed-file';
import { urlList, webUrl } from '../shared/form/urls';
import { VIDEO_TIMEOUT, videoFields } from './fields';
import type { Step } from '../shared/step';

/** The fields that are sent (spec 4.2). */
const request: RequestField[] = [
	...sharedRequest,
	{
		name: 'resolution',
		label: 'Resolution',
		wire: 'resolution',
		check: (label, value) => oneOf(label, value, RESOLUTIONS),
	},
	{ name: 'duration', label: 'Duration', wire: 'duration', check: duration },
	{
		name: 'options.fps',
		label: 'Frames per Second',
		wire: 'fps',
		check: (label, value) => oneOf(label, value, FRAME_RATES),
	},
	{
		name: 'options.negativePrompt',
		label: 'Negative Prompt',
		wire: 'negative_prompt',
		check: requiredText,
	},
	{ name: 'options.seed', label: 'Seed', wire: 'seed', check: integer },
	{
		name: 'options.inputImages',
		label: 'Input Image URLs: URL',
		wire: 'input_images',
		check: (label, value) => urlList(label, value, webUrl),
	},
];

/**
 * Reads and validates one item's parameters (spec 4.2).
 *
 * @returns for each output its creating request, its run settings and its download
 * @throws InvalidInputError
 */
export async function planVideo(step: Step, itemIndex: number): Promise<Plan[]> {
	const form = readForm(step, itemIndex, videoFields);
	const { body, values } = requestedBy(request, form);
	const image = await startImage(step, itemIndex, form);
	return creationPlans(step, itemIndex, form, {
		type: 'video',
		sent: [...request.map(({ name }) => name), 'imageSource', 'imageUrl', 'imageBinaryField'],
		requested: {
			body: { ...body, ...image?.body },
			values: { ...values, ...image?.values },
		},
		defaultTimeout: VIDEO_TIMEOUT,
		noun: 'Videos',
	});
}

const OTHER_WAYS =
	'Or set Input Image to URL, and enter the URL of the picture: the output of Image Generation has one, {{ $json.url }}. Upload any other file first, for example with an S3 node.';

/** The image to animate: its URL, or a file of the item, which the service fetches from n8n. `null`: none. */
async function startImage(step: Step, itemIndex: number, form: Form): Promise<Requested | null> {
	const source = oneOf('Input Image', form.imageSource ?? 'url', ['url', 'binary'] as const);
	if (source === 'url') {
		if (!isSet(form.imageUrl)) return null;
		const url = webUrl('Input Image URL', form.imageUrl);
		return { body: { image_url: url }, values: { imageUrl: url } };
	}
	const file = itemFile(step, itemIndex, form.imageBinaryField, 'Input Image');
	const type = plainType(file);
	if (/^(audio|text|video)\//.test(type)) {
		throw invalid('Input Image', 'an image', type, 'Check which file Input Binary Field names.');
	}
	if (knownSize(file) === 0) inlineSize('Input Image', 0);
	const identity = fileIdentity(step, file);
	const url = await signedFile(step, file, 'Input Image', OTHER_WAYS);
	return { body: { image_url: url }, values: { imageBinaryField: identity } };
}
