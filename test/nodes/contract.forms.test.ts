import {
	NodeHelpers,
	type INode,
	type INodeParameters,
	type INodeProperties,
	type INodePropertyCollection,
	type INodePropertyOptions,
	type INodeType,
} from 'n8n-workflow';

import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { nodeNamed, ownNodes } from '../../tools/own-nodes';
import type { NodeName } from '../support/workflow';

/** Which fields a form shows, and when. n8n drops the values of hidden fields. */

/** Returns the names of the visible fields if all other fields have their defaults. */
function shown(fields: INodeProperties[], chosen: INodeParameters, { description }: INodeType) {
	const untouched = fields.map((field) => [field.name, field.default]);
	const parameters = { ...Object.fromEntries(untouched), ...chosen } as INodeParameters;
	const node = { parameters } as unknown as INode;
	return fields
		.filter((field) => NodeHelpers.displayParameter(parameters, field, node, description))
		.map(({ name }) => name);
}

describe('a form shows', () => {
	const download = ['downloadOutput'];
	const image = [
		...[
			'model',
			'prompt',
			'numberOfOutputs',
			'aspectRatio',
			'referenceInputs',
			'waitForCompletion',
		],
	];
	const video = [
		...['model', 'prompt', 'numberOfOutputs', 'resolution', 'duration', 'imageSource'],
	];
	const fromUrl = [...video, 'imageUrl'];

	it.each<[NodeName, INodeParameters, string[]]>([
		['imageGeneration', {}, [...image, ...download, 'options', 'runOptions']],
		[
			'imageGeneration',
			{ runOptions: { whileWaiting: 'suspend' } },
			[...image, ...download, 'options', 'runOptions', 'suspendNotice'],
		],
		[
			'imageGeneration',
			{ runOptions: { whileWaiting: 'poll' } },
			[...image, ...download, 'options', 'runOptions'],
		],
		[
			'videoGeneration',
			{ runOptions: { whileWaiting: 'suspend' } },
			[...fromUrl, 'waitForCompletion', ...download, 'options', 'runOptions', 'suspendNotice'],
		],
		[
			'imageGeneration',
			{ waitForCompletion: false },
			[...image, 'notWaitingNotice', 'options', 'runOptions'],
		],
		[
			'videoGeneration',
			{},
			[...fromUrl, 'waitForCompletion', ...download, 'options', 'runOptions'],
		],
		[
			'videoGeneration',
			{ imageSource: 'binary' },
			[...video, 'imageBinaryField', 'waitForCompletion', ...download, 'options', 'runOptions'],
		],
		['waitForCompletion', {}, ['generationId', 'mode', ...download, 'options', 'runOptions']],
		[
			'waitForCompletion',
			{ mode: 'check' },
			['generationId', 'mode', ...download, 'options', 'runOptions'],
		],
		[
			'waitForCompletion',
			{ mode: 'suspend' },
			['generationId', 'mode', 'suspendNotice', ...download, 'options', 'runOptions'],
		],
		['generationModels', {}, ['operation', 'type', 'returnAll', 'limit']],
		['generationModels', { returnAll: true }, ['operation', 'type', 'returnAll']],
		['generationModels', { operation: 'get' }, ['operation', 'modelId']],
		['generationCredits', {}, ['operation', 'options']],
		['generationCredits', { operation: 'getSummary' }, ['operation', 'options']],
	])('of %s with %j', (name, chosen, fields) => {
		const node = nodeNamed(name);
		const visible = node.description.properties.filter(({ type }) => type !== 'hidden');
		expect(shown(visible, chosen, node)).toEqual(fields);
	});

	it.each<[NodeName, INodeParameters, string[]]>([
		['imageGeneration', {}, [...image, 'options', 'runOptions']],
		['videoGeneration', {}, [...fromUrl, 'waitForCompletion', 'options', 'runOptions']],
		['waitForCompletion', {}, ['generationId', 'mode', 'runOptions']],
	])('of %s as a tool what has an effect there, with %j', (name, chosen, fields) => {
		const { description } = nodeNamed(name);
		const tool = { description: { ...description, name: `${name}Tool` } } as INodeType;
		const visible = description.properties.filter(({ type }) => type !== 'hidden');
		expect(shown(visible, chosen, tool)).toEqual(['toolDescription', ...fields]);
	});

	it.each<[NodeName, string, string]>([
		['videoGeneration', 'imageSource', 'binary'],
		['imageGeneration', 'source', 'binary'],
		['waitForCompletion', 'mode', 'suspend'],
	])(
		'in a tool of %s, for the field %s, not the choice %s: it has no files, and cannot sleep',
		(type, field, value) => {
			const { properties } = nodeNamed(type).description;
			const inCollections = properties.flatMap(({ options = [] }) =>
				options.flatMap((option) => ('values' in option ? option.values : [])),
			);
			const found = [...properties, ...inCollections].find(({ name }) => name === field);
			const hidden = (found?.options as INodePropertyOptions[]).filter(({ displayOptions }) =>
				displayOptions?.hide?.['@tool']?.includes(true),
			);
			expect(hidden.map((choice) => choice.value)).toEqual([value]);
		},
	);

	it.each<[string, INodeParameters]>([
		['does not offer it in a new workflow', {}],
		['shows it in a workflow that uses it', { inputImages: 'https://example.com/a.png' }],
		['shows it with an expression', { inputImages: '={{ $json.pictures }}' }],
		['shows it with a list', { inputImages: ['https://example.com/a.png'] }],
	])('the older field for input images where it is used: Image Generation %s', (_, options) => {
		const { description } = nodeNamed('imageGeneration');
		const collection = description.properties.find(({ name }) => name === 'options');
		const field = (collection?.options as INodeProperties[]).find(
			({ name }) => name === 'inputImages',
		) as INodeProperties;
		const node = { parameters: { options } } as unknown as INode;
		const { parameters } = node;
		const isShown = NodeHelpers.displayParameterPath(
			parameters,
			field,
			'options',
			node,
			description,
		);
		expect(isShown).toBe('inputImages' in options);
		const kept = NodeHelpers.getNodeParameters(
			...([description.properties, parameters, true, false, node, description] as const),
		);
		expect(kept?.options).toEqual(options);
	});

	it.each([
		['url', 'url'],
		['binary', 'binaryPropertyName'],
	])('for a reference input from %s: %s', (source, field) => {
		const node = nodeNamed('imageGeneration');
		const inputs = node.description.properties.find(({ name }) => name === 'referenceInputs');
		expect(inputs?.typeOptions).toEqual({ multipleValues: true });
		const [{ values }] = inputs?.options as INodePropertyCollection[];
		expect(shown(values, { source }, node)).toEqual(['source', 'type', field]);
	});
});

describe('the model picker', () => {
	it.each<[NodeName, string]>([
		['imageGeneration', 'model'],
		['videoGeneration', 'model'],
		['generationModels', 'modelId'],
	])('of %s has a list to search, which the node can make, and the id', (name, field) => {
		const { description, methods } = nodeNamed(name);
		const picker = description.properties.find((each) => each.name === field);
		expect(picker?.modes?.map((mode) => [mode.name, mode.type])).toEqual([
			['list', 'list'],
			['id', 'string'],
		]);
		const { searchable, searchListMethod = '' } = picker?.modes?.[0].typeOptions ?? {};
		expect(searchable).toBe(true);
		expect(Object.keys(methods?.listSearch ?? {})).toEqual([searchListMethod]);
	});
});

it('the aspect ratio of an image accepts values that are not in the list', () => {
	const { properties } = nodeNamed('imageGeneration').description;
	const ratio = properties.find(({ name }) => name === 'aspectRatio');
	expect(ratio?.allowArbitraryValues).toBe(true);
});

it('no number field has a maximum: n8n would drop the digits that are too much, and 12 would become 1', () => {
	const texts = JSON.stringify(ownNodes.map(({ description }) => description.properties));
	expect(texts).toContain('minValue');
	expect(texts).not.toContain('maxValue');
});

it('n8n shows the duration of a video as 4, not as 4.00', () => {
	const { properties } = nodeNamed('videoGeneration').description;
	const duration = properties.find(({ name }) => name === 'duration');
	expect(duration?.typeOptions).not.toHaveProperty('numberPrecision');
});

describe('the credential', () => {
	it('has the address and the key, which is masked', () => {
		const { name, displayName, properties } = new MediaGenerationApi();
		expect([name, displayName]).toEqual(['mediaGenerationApi', 'Media Generation API']);
		expect(properties).toMatchObject([
			{ name: 'baseUrl', type: 'string', required: true },
			{ name: 'apiKey', type: 'string', required: true, typeOptions: { password: true } },
		]);
	});
});

it('required fields are marked: n8n asks for them before it runs a node', () => {
	const required = ownNodes.flatMap(({ description: { name, properties } }) => {
		const fields = properties.filter((field) => field.required).map((field) => field.name);
		return fields.length > 0 ? [[name, [...new Set(fields)]]] : [];
	});
	expect(Object.fromEntries(required)).toEqual({
		imageGeneration: ['model', 'prompt'],
		videoGeneration: ['model', 'prompt', 'imageBinaryField'],
		generationModels: ['modelId'],
	});
});
