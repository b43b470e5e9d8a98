import { duration } from '../shared/form/checks';
import { toolDescriptionField } from '../shared/form/description';
import {
	creatingOptions,
	deliveryFields,
	inputImagesOption,
	modelDefault,
	modelField,
	notAsTool,
	numberOfOutputsField,
	collectionField,
	promptField,
} from '../shared/form/fields';
import type { Field } from '../shared/form/form';
import { batchRoleField, creatingRunOptions, suspendNotice } from '../shared/form/run-options';
import { webUrl } from '../shared/form/urls';

export const AS_TOOL =
	'Create a short video from a text prompt or an input image. Each call is charged. Returns within a minute the ID, the status and the URL of the video, which is valid for one hour. Videos take minutes. If timed_out is true, the video is not ready yet: call Wait for Completion with the ID, and do not create it again.';

/** Default timeout in seconds. */
export const VIDEO_TIMEOUT = 1800;

export const videoFields: Field[] = [
	toolDescriptionField(AS_TOOL),
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
		options: [modelDefault, ...['480p', '720p', '1080p'].map((value) => ({ name: value, value }))],
		default: '',
		description:
			'Height of the video in pixels; higher values are sharper and may cost more, and the available values vary by model',
		wire: 'resolution',
	},
	{
		displayName: 'Duration (Seconds)',
		name: 'duration',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 0,
		description: 'Length of the video in seconds; with 0, the model decides',
		check: duration,
		wire: 'duration',
	},
	{
		displayName: 'Input Image',
		name: 'imageSource',
		type: 'options',
		options: [
			{
				name: 'Binary Field',
				value: 'binary',
				description:
					'A file of the input item. The service fetches it from n8n’s public https address, by a URL that is valid for one hour.',
				displayOptions: { hide: notAsTool },
			},
			{ name: 'URL', value: 'url', description: 'An image on the web' },
		],
		default: 'url',
		description: 'Where the image to animate comes from: the web, or a file of the input item',
	},
	{
		displayName: 'Input Image URL',
		name: 'imageUrl',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://example.com/first-frame.png',
		description:
			'The URL of an image to animate, such as the output of Image Generation; if empty, only the prompt is used',
		check: webUrl,
		wire: 'image_url',
		displayOptions: { show: { imageSource: ['url'] } },
	},
	{
		displayName: 'Input Binary Field',
		name: 'imageBinaryField',
		type: 'string',
		typeOptions: { binaryDataProperty: true },
		default: 'data',
		required: true,
		placeholder: 'e.g. data',
		hint: 'The name of the input binary field with the image to animate; the service fetches it from n8n’s https address',
		displayOptions: { show: { imageSource: ['binary'] } },
	},
	...deliveryFields,
	collectionField('options', 'Option', [
		{
			displayName: 'Frames per Second',
			name: 'fps',
			type: 'options',
			options: [modelDefault, ...[12, 24, 30].map((value) => ({ name: String(value), value }))],
			default: '',
			description:
				'Number of frames per second, if the model supports it; more frames make the motion smoother',
			wire: 'fps',
		},
		inputImagesOption(
			'Reference images, if the model supports them: comma-separated URLs, or an array',
			webUrl,
		),
		...creatingOptions(),
	]),
	collectionField('runOptions', 'Run Option', creatingRunOptions(VIDEO_TIMEOUT)),
	suspendNotice,
	batchRoleField,
];
