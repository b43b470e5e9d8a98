import { inlineSize } from '../shared/form/checks';
import { creationPlans } from '../shared/form/creation';
import { entriesOf, readForm, type Values } from '../shared/form/form';
import { fileIdentity, itemFile, knownSize } from '../shared/form/item-file';
import type { Plan } from '../shared/form/plan-items';
import { signedFile } from '../shared/form/signed-file';
import { VIDEO_TIMEOUT, videoFields } from './fields';
import type { Step } from '../shared/step';

const entries = entriesOf(videoFields);

/** Reads and validates one item's parameters (spec 4.2). Throws InvalidInputError. */
export async function planVideo(step: Step, itemIndex: number): Promise<Plan[]> {
	const values = readForm(step, itemIndex, entries);
	const isFile = values.imageSource === 'binary';
	return creationPlans(step, itemIndex, isFile ? { ...values, imageUrl: null } : values, {
		type: 'video',
		entries,
		alsoSent: ['imageSource', 'imageBinaryField'],
		more: isFile ? await startFile(step, itemIndex, values) : undefined,
		defaultTimeout: VIDEO_TIMEOUT,
	});
}

const OTHER_WAYS =
	'Or set Input Image to URL, and enter the URL of the picture: the output of Image Generation has one, {{ $json.url }}. Upload any other file first, for example with an S3 node.';

/** Returns what the input image adds to the request body (`body`) and to the digest of the item (`asked`). */
async function startFile(step: Step, itemIndex: number, { imageBinaryField }: Values) {
	const file = itemFile(step, itemIndex, imageBinaryField, 'Input Image');
	if (knownSize(file) === 0) inlineSize('Input Image', 0);
	const identity = fileIdentity(step, file);
	const url = await signedFile(step, file, 'Input Image', OTHER_WAYS);
	return { body: { image_url: url }, asked: { imageBinaryField: identity } };
}
