import type { INodeParameters } from 'n8n-workflow';

import type { NodeName } from '../support/workflow';
import { byId } from './stage';

/** Reads the item's `value`, which is under test. */
export const VALUE = '={{ $json.value }}';

const option = (name: string): INodeParameters => ({ options: { [name]: VALUE } });
const runOption = (name: string): INodeParameters => ({ runOptions: { [name]: VALUE } });
const reference = (fields: INodeParameters): INodeParameters => ({
	model: byId('aurora-image-1'),
	referenceInputs: { input: [fields] },
});

/** A field, its test values, and the error of its check. */
export interface Check {
	field: string;
	node: NodeName;
	/** Parameters that use the item's value. */
	parameters: INodeParameters;
	/** A value that passes. */
	good: unknown;
	/** Values that are rejected. */
	bad: unknown[];
	/** The error message for them. */
	says: string;
}

const tooLarge = `data:image/png;base64,${'A'.repeat(Math.ceil((4.5 * 1024 * 1024 + 1) / 3) * 4)}`;
const aPicture = 'data:image/png;base64,iVBORw0KGgo=';
const aUrl = 'https://example.com/a.png';

const [image, video, wait] = [
	'imageGeneration',
	'videoGeneration',
	'waitForCompletion',
] as const satisfies NodeName[];

/** All checks of the nodes' parameters, with valid and invalid values. */
export const checks: Check[] = [
	...[image, video].map((node) => ({
		field: `prompt of ${node}`,
		node,
		parameters: { prompt: VALUE },
		good: 'A boat',
		bad: ['', '  ', null],
		says: 'Prompt is empty',
	})),
	{
		field: 'prompt that is no text',
		node: image,
		parameters: { prompt: VALUE },
		good: 42,
		bad: [true, false],
		says: 'Prompt must be text or a number',
	},
	{
		field: 'prompt from an expression for the whole item',
		node: image,
		parameters: { prompt: VALUE },
		good: ['A boat', 'at sea'],
		bad: [{ text: 'A boat' }],
		says: 'Prompt must be a single value',
	},
	{
		field: 'negative prompt',
		node: image,
		parameters: option('negativePrompt'),
		good: 'text',
		bad: [{ text: 'fog' }],
		says: 'Negative Prompt must be a single value',
	},
	...[image, video].map((node) => ({
		field: 'waiting',
		node,
		parameters: { prompt: 'A boat', waitForCompletion: VALUE },
		good: 'false',
		bad: ['yes', 1],
		says: 'Wait for Completion',
	})),
	{
		field: 'downloading',
		node: image,
		parameters: { prompt: 'A boat', waitForCompletion: true, downloadOutput: VALUE },
		good: null,
		bad: ['yes', 1],
		says: 'Download Output',
	},
	{
		field: 'model',
		node: image,
		parameters: { model: byId(VALUE) },
		good: 'lumen-turbo',
		bad: ['', ' ', null],
		says: 'Model is empty',
	},
	{
		field: 'size',
		node: image,
		parameters: option('size'),
		good: '64x64',
		bad: ['64', '64 64', '0x64', '64x64px', 'large', '-64x64', '64.5x64'],
		says: 'Size',
	},
	{
		field: 'aspect ratio',
		node: image,
		parameters: { aspectRatio: VALUE },
		good: '1:1',
		bad: ['16x9', '16:0', '1.5', 'wide', ':9'],
		says: 'Aspect Ratio',
	},
	...[image, video].map((node) => ({
		field: `seed of ${node}`,
		node,
		parameters: option('seed'),
		good: 7,
		bad: [1.5, 'seven', '1e400', true],
		says: 'Seed',
	})),
	{
		field: 'duration',
		node: video,
		parameters: { duration: VALUE },
		good: 0.1,
		bad: [0, -1, 10.01, 11, 'long', '4s', 1e9],
		says: 'Duration',
	},
	{
		field: 'resolution',
		node: video,
		parameters: { resolution: VALUE },
		good: '480p',
		bad: ['4k', 720],
		says: 'Resolution',
	},
	{
		field: 'frame rate',
		node: video,
		parameters: option('fps'),
		good: 12,
		bad: [25, 0, 'fast'],
		says: 'Frames per Second',
	},
	{
		field: 'input image URL',
		node: video,
		parameters: { imageUrl: VALUE },
		good: '',
		bad: ['example.com/a.png', 'ftp://example.com/a.png', aPicture],
		says: 'Input Image URL',
	},
	{
		field: 'list where one input image URL is meant',
		node: video,
		parameters: { imageUrl: VALUE },
		good: [aUrl],
		bad: [[aUrl, aUrl], `${aUrl}, ${aUrl}`],
		says: 'Input Image URL contains several URLs',
	},
	{
		field: 'list of input images',
		node: image,
		parameters: { model: byId('aurora-image-1'), ...option('inputImages') },
		good: aUrl,
		bad: [`${aUrl}, http://example.com/b.png`, [aUrl, 'b.png']],
		says: 'Input Image URLs: URL 2',
	},
	{
		field: 'list of input images of a video',
		node: video,
		parameters: option('inputImages'),
		good: aUrl,
		bad: ['ftp://example.com/b.png'],
		says: 'Input Image URLs: URL 1',
	},
	{
		field: 'URL of a reference',
		node: image,
		parameters: reference({ source: 'url', url: VALUE }),
		good: aUrl,
		bad: ['http://example.com/a.png', 'picture', '', 'file:///a.png'],
		says: 'Reference File 1: URL',
	},
	{
		field: 'data URI of a reference',
		node: image,
		parameters: reference({ source: 'data', data: VALUE }),
		good: aPicture,
		bad: ['', 'iVBORw0KGgo=', 'data:image/png,iVBORw0KGgo=', 'data:image/png;base64,not base64!'],
		says: 'Reference File 1: Data URI',
	},
	{
		field: 'size of a data URI',
		node: image,
		parameters: reference({ source: 'data', data: VALUE }),
		good: aPicture,
		bad: [tooLarge],
		says: 'Reference File 1: Data URI is too large',
	},
	{
		field: 'type of a reference',
		node: image,
		parameters: reference({ source: 'url', url: aUrl, type: VALUE }),
		good: 'image',
		bad: ['text'],
		says: 'Reference File 1: Type',
	},
	{
		field: 'name of the output field',
		node: image,
		parameters: { waitForCompletion: true, ...option('binaryPropertyName') },
		good: 'data',
		bad: [{ name: 'data' }],
		says: 'Put Output in Field must be a single value',
	},
	{
		field: 'timeout',
		node: image,
		parameters: runOption('timeout'),
		good: 60,
		bad: [0, -5, 'soon'],
		says: 'Timeout',
	},
	{
		field: 'way of timing out',
		node: video,
		parameters: runOption('onTimeout'),
		good: 'error',
		bad: ['wait'],
		says: 'On Timeout',
	},
	{
		field: 'way with an uncertain charge',
		node: image,
		parameters: runOption('onUncertainCharge'),
		good: 'error',
		bad: ['again'],
		says: 'On Uncertain Charge',
	},
	{
		field: 'number of concurrent generations',
		node: image,
		parameters: runOption('maxConcurrent'),
		good: 2,
		bad: [0, -1, 1.5, 'many'],
		says: 'Max Concurrent',
	},
	{
		field: 'poll interval',
		node: image,
		parameters: runOption('pollInterval'),
		good: 1,
		bad: [0, -1, 0.001, 'often'],
		says: 'Poll Interval',
	},
	{
		field: 'generation ID',
		node: wait,
		parameters: { generationId: VALUE },
		good: 'unknown',
		bad: ['', '  ', null],
		says: 'Generation ID is empty',
	},
	{
		field: 'mode of waiting',
		node: wait,
		parameters: { generationId: 'unknown', mode: VALUE },
		good: 'check',
		bad: ['hope'],
		says: 'Mode',
	},
	...[wait, video].map((node) => ({
		field: `kind of readiness of ${node}`,
		node,
		parameters: { generationId: 'unknown', ...runOption('readiness') },
		good: 'status',
		bad: ['head'],
		says: 'Readiness',
	})),
	{
		field: 'idempotency key',
		node: image,
		parameters: option('idempotencyKey'),
		good: '',
		bad: [{ id: 1 }, true],
		says: 'Idempotency Key',
	},
];
