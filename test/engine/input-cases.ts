import type { INodeParameters } from 'n8n-workflow';

import type { NodeName } from '../support/workflow';
import { byId } from './stage';

/** Reads the item's `value`, which is under test. */
export const VALUE = '={{ $json.value }}';

/** Parameters of a step, and what its field accepts and rejects. Each value comes from an item's expression. */
export interface Check {
	field: string;
	node: NodeName;
	/** Parameters that use the item's value. */
	parameters: INodeParameters;
	/** The value's path in the request body, if it is sent. */
	wire?: string;
	/** Values that pass. */
	good: unknown[];
	/** What is sent for them, if that differs. */
	as?: unknown[];
	/** Values that are rejected, by the error message for them. */
	bad: Record<string, unknown[]>;
}

/** Parameters with the value in an option. */
export const option = (name: string): INodeParameters => ({ options: { [name]: VALUE } });
const runOption = (name: string): INodeParameters => ({ runOptions: { [name]: VALUE } });
/** A model that accepts every field. */
export const capable = { model: byId('aurora-image-1') };
const [image, video, wait] = [
	'imageGeneration',
	'videoGeneration',
	'waitForCompletion',
] as const satisfies NodeName[];

/** Switches and choices whose values are not sent. */
const choices: Array<[string, NodeName, INodeParameters, good: unknown[], bad: unknown[]]> = [
	...[image, video].map((node): (typeof choices)[number] => [
		'Wait Until Ready',
		node,
		{ waitForCompletion: VALUE },
		['false', false],
		['yes', 1],
	]),
	[
		'Download Output',
		image,
		{ waitForCompletion: true, downloadOutput: VALUE },
		[null, 'false'],
		['yes', 1],
	],
	['On Timeout', video, runOption('onTimeout'), ['error', 'continue'], ['wait']],
	[
		'If the Response Is Lost',
		image,
		runOption('onUncertainCharge'),
		['error', 'resubmit'],
		['again'],
	],
	['Mode', wait, { generationId: 'unknown', mode: VALUE }, ['check'], ['hope']],
	...[wait, video].map((node): (typeof choices)[number] => [
		'How to Detect the End',
		node,
		{ generationId: 'unknown', ...runOption('readiness') },
		['auto', 'status', 'outputUrl'],
		['head'],
	]),
];

/** All checks of the nodes' parameters, with valid and invalid values. */
export const checks: Check[] = [
	...[image, video].map((node) => ({
		field: `Prompt of ${node}`,
		node,
		parameters: { prompt: VALUE },
		wire: 'prompt',
		good: ['  A cat\n', 12, 0, ['a', 'b'], '{{ $json.name }}', 'with [brackets]'],
		as: ['A cat', '12', '0', 'a,b', '{{ $json.name }}', 'with [brackets]'],
		bad: {
			'Prompt is empty': ['', ' \n\t ', null, []],
			'Prompt must be a single value': [
				{},
				{ text: 'A boat' },
				['A cat', { a: 1 }],
				'A [object Object]',
			],
		},
	})),
	{
		field: 'Negative Prompt',
		node: image,
		parameters: { ...capable, ...option('negativePrompt') },
		wire: 'parameters.negative_prompt',
		good: ['text'],
		bad: { 'Negative Prompt must be a single value': [{ text: 'fog' }] },
	},
	{
		field: 'Model',
		node: image,
		parameters: { model: byId(VALUE) },
		wire: 'model',
		good: ['lumen-turbo', ' lumen-turbo '],
		as: ['lumen-turbo', 'lumen-turbo'],
		bad: { 'Model is empty': ['', ' ', null] },
	},
	{
		field: 'Size',
		node: image,
		parameters: { ...capable, ...option('size') },
		wire: 'size',
		good: ['64x64', ' 128x72 ', '128 x 72', '128×72', '128X72', ' 128 × 72 ', '128\u00a0x\u00a072'],
		as: ['64x64', ...Array<string>(6).fill('128x72')],
		bad: {
			'Size must be a width and a height such as 1024x1024': [
				...['64', '64x', 'x64', '64 64', '0x64', '01x64', '64xx64', '64x64x3', '6 4x64'],
				...['64x64px', 'large', '-64x64', '64.5x64', 64],
			],
		},
	},
	{
		field: 'Aspect Ratio',
		node: image,
		parameters: { aspectRatio: VALUE },
		wire: 'parameters.aspect_ratio',
		good: ['16:9', '1:1', ' 9:16 '],
		as: ['16:9', '1:1', '9:16'],
		bad: {
			'Aspect Ratio': [
				...['16', '16x9', '16/9', '0:1', '16:0', '16:9:1', '1.85:1', '1.5', 'wide', ':9'],
			],
		},
	},
	...[image, video].map((node) => ({
		field: `Seed of ${node}`,
		node,
		parameters: option('seed'),
		wire: node === image ? 'parameters.seed' : 'seed',
		good: [0, -7, '42', ' 42 ', 2 ** 53 - 1],
		as: [0, -7, 42, 42, 2 ** 53 - 1],
		bad: {
			'Seed must be a whole number': [1.5, '1.5', 'seven', '7 cats', '1e400', true, 2 ** 53, []],
		},
	})),
	{
		field: 'Duration (Seconds)',
		node: video,
		parameters: { duration: VALUE },
		wire: 'duration',
		good: [0.1, 0.5, 4, '4', 0, '0', null, ''],
		as: [0.1, 0.5, 4, 4, ...Array<undefined>(4).fill(undefined)],
		bad: {
			'Duration (Seconds) must be a number above 0': [-1],
			'Duration (Seconds) must be a number': ['long', '4s', '1,5', true],
		},
	},
	{
		field: 'Resolution',
		node: video,
		parameters: { resolution: VALUE },
		wire: 'resolution',
		good: ['480p', '720p', '1080p'],
		bad: { 'Resolution must be one of 480p, 720p, 1080p, not': ['4k', '720', 720] },
	},
	{
		field: 'Frames per Second',
		node: video,
		parameters: option('fps'),
		wire: 'fps',
		good: [12, '24', 30],
		as: [12, 24, 30],
		bad: { 'Frames per Second must be one of 12, 24, 30, not': [25, 0, 'fast'] },
	},
	{
		field: 'Idempotency Key',
		node: image,
		parameters: option('idempotencyKey'),
		good: [''],
		bad: { 'Idempotency Key': [{ id: 1 }] },
	},
	{
		field: 'Put Output in Field',
		node: image,
		parameters: { waitForCompletion: true, ...option('binaryPropertyName') },
		good: ['data'],
		bad: { 'Put Output in Field must be a single value': [{ name: 'data' }] },
	},
	{
		field: 'Timeout (Seconds)',
		node: image,
		parameters: runOption('timeout'),
		good: [60, '0.5', null],
		bad: { 'Timeout (Seconds) must be a number above 0, not': [0, '0', -5, 'soon'] },
	},
	{
		field: 'Max Concurrent',
		node: image,
		parameters: runOption('maxConcurrent'),
		good: [2, '2', null],
		bad: { 'Max Concurrent must be': [0, -1, 1.5, 'many'] },
	},
	...(
		[
			['Limit New Generations', 'maxNewGenerations'],
			['Spend at Most (Credits)', 'maxCredits'],
			['Stop Below Balance', 'minimumBalance'],
		] as const
	).map(([field, name]) => ({
		field,
		node: image,
		parameters: runOption(name),
		good: [50, '60'],
		bad: { [`${field} is empty for this item`]: ['', ' ', null], [`${field} must be`]: ['few'] },
	})),
	{
		field: 'Number of Images',
		node: image,
		parameters: { numberOfOutputs: VALUE },
		good: [1, '1', null],
		bad: { 'Number of Images must be a whole number from 1 to 20, not': [0, 21, 25, 1.5] },
	},
	{
		field: 'Retries of Failed Generations',
		node: image,
		parameters: runOption('retriesOnFailure'),
		good: [0, 5, null],
		bad: { 'Retries of Failed Generations must be a whole number from 0 to 5, not': [-1, 6, 12] },
	},
	{
		field: 'Poll Interval (Seconds)',
		node: image,
		parameters: runOption('pollInterval'),
		good: [1, '1.5', null],
		bad: { 'Poll Interval (Seconds) must be': [0, -1, 0.99, 'often'] },
	},
	{
		field: 'Generation ID',
		node: wait,
		parameters: { generationId: VALUE },
		good: ['unknown', ' unknown ', 'a/b', '...', 'a.b'],
		as: ['unknown', 'unknown', 'a/b', '...', 'a.b'],
		bad: {
			'This item has no generation ID': ['', '  ', null],
			'Generation ID must be the ID of a generation': [
				'.',
				'..',
				'a'.repeat(501),
				'\ud800',
				'https://x.example/a.png',
			],
		},
	},
	...choices.map(([field, node, parameters, good, bad]) => ({
		field: `${field} of ${node}`,
		node,
		parameters,
		good,
		bad: { [`${field} must be one of`]: bad },
	})),
];
