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

const option = (name: string): INodeParameters => ({ options: { [name]: VALUE } });
const runOption = (name: string): INodeParameters => ({ runOptions: { [name]: VALUE } });
const capable = { model: byId('aurora-image-1') };
const reference = (fields: INodeParameters): INodeParameters => ({
	...capable,
	referenceInputs: { input: [fields] },
});

/** A data URI of this many bytes. */
const pictureOf = (bytes: number) =>
	`data:image/png;base64,${Buffer.alloc(bytes).toString('base64')}`;
const inLines = (uri: string) => uri.replace(',', ',\n').replace(/.{76}/g, '$&\n');
/** 4.5 MB (spec 8). */
const limit = 4.5 * 1024 * 1024;

const aPicture = 'data:image/png;base64,iVBORw0KGgo=';
const aUrl = 'https://example.com/a.png';
const bUrl = 'https://example.com/b.png';
/** Image services have commas in their URLs. */
const withCommas = [
	'https://img.example.com/w_200,h_100,c_fill/a.png',
	'https://img.example.com/fetch/f_auto,q_80/https://example.com/a.png',
];

const [image, video, wait] = [
	'imageGeneration',
	'videoGeneration',
	'waitForCompletion',
] as const satisfies NodeName[];

/** Switches and choices whose values are not sent. */
const choices: Array<[string, NodeName, INodeParameters, good: unknown[], bad: unknown[]]> = [
	...[image, video].map((node): (typeof choices)[number] => [
		'Wait for Completion',
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
	['On Uncertain Charge', image, runOption('onUncertainCharge'), ['error', 'resubmit'], ['again']],
	['Mode', wait, { generationId: 'unknown', mode: VALUE }, ['check'], ['hope']],
	...[wait, video].map((node): (typeof choices)[number] => [
		'Readiness',
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
			'Prompt must be text or a number': [true, false],
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
		field: 'Duration',
		node: video,
		parameters: { duration: VALUE },
		wire: 'duration',
		good: [0.1, 0.5, 4, '4'],
		as: [0.1, 0.5, 4, 4],
		bad: {
			'Duration must be a number above 0': [0, '0', -1, 'long', '4s', '1,5', true],
			'Duration must be at most 10': [10.01, 11, 1e9],
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
		field: 'Input Image URL',
		node: video,
		parameters: { imageUrl: VALUE },
		wire: 'image_url',
		good: ['', aUrl, [aUrl], ' http://example.com/a.png ', 'HTTP://10.0.0.1:8080/a.png'],
		as: [undefined, aUrl, aUrl, 'http://example.com/a.png', 'HTTP://10.0.0.1:8080/a.png'],
		bad: {
			'Input Image URL must be an https:// or http:// URL, not "': [
				...['a.png', 'example.com/a.png', 'http:/example.com/a.png', 'ftp://example.com/a.png'],
				aPicture,
			],
			'Input Image URL contains several URLs': [
				...[[aUrl, bUrl], [aUrl, 'b.png'], `${aUrl},${bUrl}`, `${aUrl}, ${bUrl}`],
				`${aUrl}\n${bUrl}`,
			],
		},
	},
	{
		field: 'Input Image URLs of imageGeneration',
		node: image,
		parameters: { ...capable, ...option('inputImages') },
		wire: 'input_images',
		good: [
			...[`${aUrl}, ${bUrl}`, `${aUrl}\n${bUrl}\n`, `,${aUrl},,${bUrl},`, `${aUrl},\r\n${bUrl}`],
			...[[aUrl, bUrl].join(), [aUrl, bUrl], ['', aUrl, bUrl, ' ', null]],
			...[withCommas[0], `${withCommas[1]},${aUrl}, ${withCommas[0]}\n`],
		],
		as: [
			...Array<string[]>(7).fill([aUrl, bUrl]),
			...[[withCommas[0]], [withCommas[1], aUrl, withCommas[0]]],
		],
		bad: {
			'Input Image URLs: URL 2 must be an https:// URL, not "b.png"': [[aUrl, 'b.png']],
			'Input Image URLs: URL 2 must be an https:// URL': [`${aUrl}, http://example.com/b.png`],
		},
	},
	{
		field: 'Input Image URLs of videoGeneration',
		node: video,
		parameters: option('inputImages'),
		wire: 'input_images',
		good: [aUrl, 'http://example.com/a.png'],
		as: [[aUrl], ['http://example.com/a.png']],
		bad: { 'Input Image URLs: URL 1': ['ftp://example.com/b.png'] },
	},
	{
		field: 'URL of a reference',
		node: image,
		parameters: reference({ source: 'url', url: VALUE }),
		wire: 'inputs.0.value',
		good: [
			...[aUrl, ` ${aUrl} `, [aUrl], 'HTTPS://example.com/a.png?x=1&y=%20#z', ...withCommas],
			...['http://localhost:8080/a.png', 'http://127.0.0.1/a.png', 'http://[::1]:5678/a.png'],
		],
		as: [
			...[aUrl, aUrl, aUrl, 'HTTPS://example.com/a.png?x=1&y=%20#z', ...withCommas],
			...['http://localhost:8080/a.png', 'http://127.0.0.1/a.png', 'http://[::1]:5678/a.png'],
		],
		bad: {
			'Reference File 1: URL is empty': ['', null],
			'Reference File 1: URL contains several URLs': [
				...[[aUrl, bUrl], `${aUrl},${bUrl}`, 'ht\ntps://example.com'],
			],
			'Reference File 1: URL must be an https:// URL': [
				...['picture', 'example.com/a.png', 'http://example.com/a.png', 'http://10.0.0.1/a.png'],
				...['http://127.0.0.1.example.com/a.png', 'http://localhost.example.com/a.png'],
				...['http://notlocalhost/a.png', 'https://', 'https://exa mple.com/a.png'],
				...['https://example.com:99999/a.png', 'https:example.com/a.png', 'https:/example.com'],
				...['ftp://example.com/a.png', 'file:///a.png', aPicture, 42],
				...['javascript:alert(1)', `http://example.com/${'a'.repeat(5000)}`],
			],
		},
	},
	{
		field: 'Data URI of a reference',
		node: image,
		parameters: reference({ source: 'data', data: VALUE }),
		wire: 'inputs.0.value',
		good: [
			...[aPicture, `  ${aPicture}  `, inLines(aPicture), 'data:audio/wav;base64,UklGRg'],
			...['data:audio/wav;base64,UklGRi0', pictureOf(limit - 1), inLines(pictureOf(limit))],
		],
		as: [
			...[aPicture, aPicture, aPicture, 'data:audio/wav;base64,UklGRg=='],
			...['data:audio/wav;base64,UklGRi0=', pictureOf(limit - 1), pictureOf(limit)],
		],
		bad: {
			'Reference File 1: Data URI is empty': ['', null],
			'Reference File 1: Data URI must be a data URI such as': [
				...['iVBORw0KGgo=', 'data:,hello', 'data:image/png,iVBORw0KGgo=', 'data:image/png;base64,'],
				...['data:image/png;base64,iVBO*', 'data:image/png;base64,iVBORw0KGgo==='],
				...['data:image/png;base64,iV=BO', 'data:image/png;base64,iVBOR', 'data:image;base64,iVBO'],
				...[aUrl, `data:image/png;base64,A${' '.repeat(1_000_000)}*`],
			],
			'Reference File 1: Data URI is too large: 4.6 MB': [
				...[pictureOf(limit + 1), pictureOf(limit + 2)],
			],
			'Reference File 1: Type must be one of image, video, audio, not "text"': [
				'data:text/html;base64,PGI+',
			],
		},
	},
	{
		field: 'Type of a reference',
		node: image,
		parameters: reference({ source: 'url', url: aUrl, type: VALUE }),
		wire: 'inputs.0.type',
		good: ['', 'image', 'video', 'audio'],
		as: ['image', 'image', 'video', 'audio'],
		bad: { 'Reference File 1: Type must be one of image, video, audio, not "text"': ['text'] },
	},
	{
		field: 'Idempotency Key',
		node: image,
		parameters: option('idempotencyKey'),
		good: [''],
		bad: { 'Idempotency Key': [{ id: 1 }, true] },
	},
	{
		field: 'Put Output in Field',
		node: image,
		parameters: { waitForCompletion: true, ...option('binaryPropertyName') },
		good: ['data'],
		bad: { 'Put Output in Field must be a single value': [{ name: 'data' }] },
	},
	{
		field: 'Timeout',
		node: image,
		parameters: runOption('timeout'),
		good: [60, '0.5', null],
		bad: { 'Timeout must be a number above 0, not': [0, '0', -5, 'soon'] },
	},
	{
		field: 'Max Concurrent',
		node: image,
		parameters: runOption('maxConcurrent'),
		good: [2, '2', null],
		bad: { 'Max Concurrent must be': [0, -1, 1.5, 'many'] },
	},
	{
		field: 'Poll Interval',
		node: image,
		parameters: runOption('pollInterval'),
		good: [1, '1.5', null],
		bad: { 'Poll Interval must be at least 1, not': [0, -1, 0.99, 'often'] },
	},
	{
		field: 'Generation ID',
		node: wait,
		parameters: { generationId: VALUE },
		good: ['unknown', ' unknown ', 'a/b', '...', 'a.b'],
		as: ['unknown', 'unknown', 'a/b', '...', 'a.b'],
		bad: {
			'Generation ID is empty': ['', '  ', null],
			'Generation ID must be the ID of a generation': ['.', '..', 'a'.repeat(501), '\ud800'],
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
