import type { INodeProperties } from 'n8n-workflow';

import {
	creatingOptions,
	deliveryFields,
	inputImagesOption,
	modelField,
	optionsField,
	promptField,
} from '../shared/fields';
import { IMAGE_TIMEOUT } from './request';

/** In the order in which one fills them in: which of them show depends on the source. */
const inputFields: INodeProperties[] = [
	{
		displayName: 'Source',
		name: 'source',
		type: 'options',
		options: [
			{ name: 'Binary Field', value: 'binary', description: 'A file of the incoming item' },
			{ name: 'Data URI', value: 'data', description: 'Base64 data written inline' },
			{ name: 'URL', value: 'url', description: 'A file that the service fetches itself' },
		],
		default: 'url',
	},
	{
		displayName: 'Type',
		name: 'type',
		type: 'options',
		options: [
			{ name: 'Audio', value: 'audio' },
			{ name: 'Automatic', value: '', description: 'From the file; image for a URL' },
			{ name: 'Image', value: 'image' },
			{ name: 'Video', value: 'video' },
		],
		default: '',
		description: 'What kind of file it is',
	},
	{
		displayName: 'URL',
		name: 'url',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://example.com/sketch.png',
		description: 'Address of the file, over https',
		displayOptions: { show: { source: ['url'] } },
	},
	{
		displayName: 'Input Binary Field',
		name: 'binaryPropertyName',
		type: 'string',
		default: 'data',
		placeholder: 'e.g. data',
		hint: 'The name of the input binary field that holds the file, of 4.5 MB at most',
		displayOptions: { show: { source: ['binary'] } },
	},
	{
		displayName: 'Data URI',
		name: 'data',
		type: 'string',
		default: '',
		placeholder: 'e.g. data:image/png;base64,iVBORw0…',
		description: 'The file as a base64 data URI, of 4.5 MB decoded at most',
		displayOptions: { show: { source: ['data'] } },
	},
];

const referenceInputs: INodeProperties = {
	displayName: 'Reference Inputs',
	name: 'referenceInputs',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Reference Input',
	default: {},
	description: 'Pictures, videos or sounds for the model to work from, where it supports them',
	options: [
		{
			displayName: 'Input',
			name: 'input',
			values: inputFields,
		},
	],
};

/** The form of the node, in the order of the contract. */
export const imageFields: INodeProperties[] = [
	modelField('searchImageModels'),
	promptField,
	{
		displayName: 'Size',
		name: 'size',
		type: 'string',
		default: '1024x1024',
		placeholder: 'e.g. 1024x1024',
		description:
			'Width x height in pixels, such as 1024x1024. Which sizes there are varies by model.',
	},
	referenceInputs,
	...deliveryFields,
	optionsField([
		{
			displayName: 'Aspect Ratio',
			name: 'aspectRatio',
			type: 'string',
			default: '',
			placeholder: 'e.g. 16:9',
			description: 'Width to height, with a colon between them; overrides the size',
		},
		{
			displayName: 'Edit Mode',
			name: 'editMode',
			type: 'string',
			default: '',
			description: 'Editing mode, for models that edit pictures',
		},
		inputImagesOption(
			'Deprecated: use Reference Inputs. Reference pictures as https URLs with commas between them, or an array.',
		),
		...creatingOptions(IMAGE_TIMEOUT),
	]),
];
