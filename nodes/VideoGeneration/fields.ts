import type { INodeProperties } from 'n8n-workflow';

import { FRAME_RATES, RESOLUTIONS } from '../../client/input/checks';
import {
	creatingOptions,
	deliveryFields,
	inputImagesOption,
	modelField,
	optionsField,
	promptField,
} from '../shared/fields';
import { VIDEO_TIMEOUT } from './request';

/** The form of the node, in the order of the contract. */
export const videoFields: INodeProperties[] = [
	modelField('searchVideoModels'),
	promptField,
	{
		displayName: 'Resolution',
		name: 'resolution',
		type: 'options',
		options: RESOLUTIONS.map((value) => ({ name: value, value })),
		default: '720p',
		description:
			'Lines of the video: more are sharper, and may cost more. Which ones there are varies by model.',
	},
	{
		displayName: 'Duration',
		name: 'duration',
		type: 'number',
		typeOptions: { minValue: 0, maxValue: 10, numberPrecision: 2 },
		default: 4,
		description:
			'Length in seconds; longer videos may cost more. The maximum varies by model, between 4 and 10.',
	},
	{
		displayName: 'Frames per Second',
		name: 'fps',
		type: 'options',
		options: FRAME_RATES.map((value) => ({ name: String(value), value })),
		default: 24,
		description: 'How smooth the motion is',
	},
	{
		displayName: 'Input Image URL',
		name: 'imageUrl',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://example.com/first-frame.png',
		description: 'A picture to set in motion, over https; leave empty for text to video',
	},
	...deliveryFields,
	optionsField([
		inputImagesOption(
			'Reference pictures, where the model supports them: https URLs with commas between them, or an array',
		),
		...creatingOptions(VIDEO_TIMEOUT),
	]),
];
