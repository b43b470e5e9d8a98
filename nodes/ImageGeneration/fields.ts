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
		'What to make a picture of: subject, style, light and composition',
	),
	numberOfOutputsField('Images'),
	{
		displayName: 'Size',
		name: 'size',
		type: 'string',
		default: '',
		placeholder: 'e.g. 1024x1024',
		description:
			'Width and height in pixels with an x between them. If empty, the model decides. Which sizes there are varies by model. Aspect Ratio, among the options, overrides it.',
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
			description: 'Width to height, with a colon between them. Overrides Size.',
		},
		{
			displayName: 'Edit Mode',
			name: 'editMode',
			type: 'string',
			default: '',
			placeholder: 'e.g. inpaint',
			description: 'What kind of edit to make, for models that edit pictures',
		},
		inputImagesOption(
			'Input Image URLs (Deprecated)',
			'Use Reference Inputs instead. Reference pictures as https URLs with commas between them, or an array.',
		),
		...creatingOptions,
	]),
	runOptionsField(creatingRunOptions(IMAGE_TIMEOUT)),
	batchRoleField,
];
