import { aspectRatio, size } from '../shared/form/checks';
import { toolDescriptionField } from '../shared/form/description';
import {
	creatingOptions,
	deliveryFields,
	inputImagesOption,
	modelDefault,
	modelField,
	numberOfOutputsField,
	collectionField,
	promptField,
} from '../shared/form/fields';
import type { Field } from '../shared/form/form';
import { referenceInputsField } from '../shared/form/reference-inputs';
import { batchRoleField, creatingRunOptions, suspendNotice } from '../shared/form/run-options';
import { fetchableUrl } from '../shared/form/urls';

export const AS_TOOL =
	'Create an image from a text prompt, optionally with reference images. Each call is charged. Returns the ID, the status and the URL of the image, which is valid for one hour. If timed_out is true, the image is not ready yet: call Wait for Completion with the ID, and do not create it again.';

/** Default timeout in seconds. */
export const IMAGE_TIMEOUT = 600;

/** Ratios of common formats. The service takes others, too (spec 4.1). */
const ASPECT_RATIOS = [
	{ name: '1:1 (Square)', value: '1:1' },
	{ name: '4:5 (Portrait)', value: '4:5' },
	{ name: '9:16 (Vertical)', value: '9:16' },
	{ name: '16:9 (Widescreen)', value: '16:9' },
];

/** The legacy field `input_images` (spec 9). n8n shows it only in workflows that already use it. */
const legacyInputImages: Field = {
	...inputImagesOption(
		'The older form of Reference Images & Files: comma-separated https URLs, or an array',
		fetchableUrl,
	),
	displayOptions: { show: { inputImages: [{ _cnd: { exists: true } }] } },
};

export const imageFields: Field[] = [
	toolDescriptionField(AS_TOOL),
	modelField('searchImageModels', 'aurora-image-1'),
	promptField(
		'e.g. A lighthouse on a cliff at dusk, oil painting',
		'What the image shows: subject, style, light and composition',
	),
	numberOfOutputsField('Images'),
	{
		displayName: 'Aspect Ratio',
		name: 'aspectRatio',
		type: 'options',
		options: [modelDefault, ...ASPECT_RATIOS],
		allowArbitraryValues: true,
		default: '',
		description:
			'Width to height of the image; for another ratio, such as 3:2, switch to Expression and enter it',
		check: aspectRatio,
		wire: 'parameters.aspect_ratio',
	},
	referenceInputsField,
	...deliveryFields,
	collectionField('options', 'Option', [
		{
			displayName: 'Kind of Edit',
			name: 'editMode',
			type: 'string',
			default: '',
			placeholder: 'e.g. inpaint',
			description:
				'What the model does with the reference images, such as inpaint; its documentation lists the words',
			wire: 'edit_mode',
		},
		legacyInputImages,
		{
			displayName: 'Size',
			name: 'size',
			type: 'string',
			default: '',
			placeholder: 'e.g. 1024x1024',
			description:
				'Width and height in pixels, unless Aspect Ratio is set; if empty, the model decides',
			check: size,
			wire: 'size',
		},
		...creatingOptions('parameters.'),
	]),
	collectionField('runOptions', 'Run Option', creatingRunOptions(IMAGE_TIMEOUT)),
	suspendNotice,
	batchRoleField,
];
