import type { INodeProperties } from 'n8n-workflow';

import {
	creatingOptions,
	deliveryFields,
	inputImagesOption,
	modelField,
	numberOfOutputsField,
	optionsField,
	promptField,
} from '../shared/form/fields';
import { referenceInputsField } from '../shared/form/reference-inputs';
import { batchRoleField, creatingRunOptions, runOptionsField } from '../shared/form/run-options';

/** Default timeout in seconds. */
export const IMAGE_TIMEOUT = 600;

/** The node's parameters, in the order of the contract. */
export const imageFields: INodeProperties[] = [
	modelField('searchImageModels', 'aurora-image-1'),
	promptField(
		'e.g. A lighthouse on a cliff at dusk, oil painting',
		'What the image shows: subject, style, light and composition',
	),
	numberOfOutputsField('Images'),
	{
		displayName: 'Size',
		name: 'size',
		type: 'string',
		default: '',
		placeholder: 'e.g. 1024x1024',
		description:
			'Width and height in pixels, with an x between them. The sizes vary by model. If empty, the model decides. The option Aspect Ratio overrides it.',
	},
	referenceInputsField,
	...deliveryFields,
	optionsField([
		{
			displayName: 'Aspect Ratio',
			name: 'aspectRatio',
			type: 'string',
			default: '',
			placeholder: 'e.g. 16:9',
			description: 'Width and height, with a colon between them. Overrides Size.',
		},
		{
			displayName: 'Edit Mode',
			name: 'editMode',
			type: 'string',
			default: '',
			placeholder: 'e.g. inpaint',
			description: 'The kind of edit, for models that edit images',
		},
		inputImagesOption(
			'Input Image URLs',
			'The older form of Reference Inputs, which are preferred: https URLs with commas between them, or an array',
		),
		...creatingOptions,
	]),
	runOptionsField(creatingRunOptions(IMAGE_TIMEOUT)),
	batchRoleField,
];
