import type { INodeProperties } from 'n8n-workflow';

import { FRAME_RATES, RESOLUTIONS } from '../../client/input';
import {
	creatingOptions,
	deliveryFields,
	inputImagesOption,
	modelField,
	numberOfOutputsField,
	optionsField,
	promptField,
} from '../shared/form/fields';
import { batchRoleField, creatingRunOptions, runOptionsField } from '../shared/form/run-options';

/** Default timeout in seconds. */
export const VIDEO_TIMEOUT = 1800;

/** Sends no value, so the model decides. A model that does not support the parameter can still be used. */
const modelDefault = { name: 'Model Default', value: '' };

/** The node's parameters, in the order of the contract. */
export const videoFields: INodeProperties[] = [
	modelField('searchVideoModels', 'aurora-motion-1'),
	promptField(
		'e.g. Waves roll against a lighthouse at dusk, the camera rises slowly',
		'What the video shows: subject, style, light, and how things and the camera move',
	),
	numberOfOutputsField('Videos'),
	{
		displayName: 'Resolution',
		name: 'resolution',
		type: 'options',
		options: [modelDefault, ...RESOLUTIONS.map((value) => ({ name: value, value }))],
		default: '',
		description:
			'Lines of the video. More lines are sharper, and may cost more. The choice varies by model.',
	},
	{
		displayName: 'Duration (Seconds)',
		name: 'duration',
		type: 'number',
		typeOptions: { minValue: 0, maxValue: 10, numberPrecision: 2 },
		default: 4,
		description:
			'Longer videos may cost more. The maximum varies by model, between 4 and 10. If empty, the model decides.',
	},
	{
		displayName: 'Frames per Second',
		name: 'fps',
		type: 'options',
		options: [modelDefault, ...FRAME_RATES.map((value) => ({ name: String(value), value }))],
		default: '',
		description: 'How smooth the motion is. Not every model supports it.',
	},
	{
		displayName: 'Input Image URL',
		name: 'imageUrl',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://example.com/first-frame.png',
		description:
			'An image to animate, as an https URL. The service accepts no file here: use the URL of an image that Image Generation created, or upload the file first. Leave empty for text to video.',
	},
	...deliveryFields,
	optionsField([
		inputImagesOption(
			'Input Image URLs',
			'Reference images, if the model supports them: https URLs with commas between them, or an array',
		),
		...creatingOptions,
	]),
	runOptionsField(creatingRunOptions(VIDEO_TIMEOUT)),
	batchRoleField,
];
