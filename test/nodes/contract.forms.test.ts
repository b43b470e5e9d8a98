import {
	NodeHelpers,
	type INode,
	type INodeParameters,
	type INodeProperties,
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
			{ mode: 'suspend' },
			['generationId', 'mode', 'suspendNotice', ...download, 'options', 'runOptions'],
		],
		['generationModels', {}, ['operation', 'type', 'returnAll', 'limit']],
		['generationModels', { operation: 'get' }, ['operation', 'modelId']],
		['generationCredits', {}, ['operation', 'options']],
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

it('no number field has a maximum: n8n would drop the digits that are too much, and 12 would become 1', () => {
	const texts = JSON.stringify(ownNodes.map(({ description }) => description.properties));
	expect(texts).toContain('minValue');
	expect(texts).not.toContain('maxValue');
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
