import {
	NodeHelpers,
	type INode,
	type INodeParameters,
	type INodeProperties,
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
	const words = (text: string) => text.split(' ');
	const end = words('downloadOutput options runOptions');
	const image = words('model prompt numberOfOutputs aspectRatio referenceInputs waitForCompletion');
	const video = words('model prompt numberOfOutputs resolution duration imageSource');
	const fromUrl = [...video, 'imageUrl', 'waitForCompletion'];
	const suspend = { runOptions: { whileWaiting: 'suspend' } };

	it.each<[NodeName, INodeParameters, string[]]>([
		['imageGeneration', {}, [...image, ...end]],
		['imageGeneration', suspend, [...image, ...end, 'suspendNotice']],
		[
			'imageGeneration',
			{ waitForCompletion: false },
			[...image, ...words('notWaitingNotice options runOptions')],
		],
		['videoGeneration', {}, [...fromUrl, ...end]],
		[
			'videoGeneration',
			{ imageSource: 'binary' },
			[...video, 'imageBinaryField', 'waitForCompletion', ...end],
		],
		['waitForCompletion', {}, ['generationId', 'mode', ...end]],
		[
			'waitForCompletion',
			{ mode: 'suspend' },
			words('generationId mode suspendNotice').concat(end),
		],
		['generationModels', {}, words('operation type returnAll limit')],
		['generationModels', { operation: 'get' }, words('operation modelId')],
		['generationCredits', {}, words('operation options')],
	])('of %s with %j', (name, chosen, fields) => {
		const node = nodeNamed(name);
		const visible = node.description.properties.filter(({ type }) => type !== 'hidden');
		expect(shown(visible, chosen, node)).toEqual(fields);
	});

	it.each<[NodeName, INodeParameters, string[]]>([
		['imageGeneration', {}, [...image, 'options', 'runOptions']],
		['videoGeneration', {}, [...fromUrl, 'options', 'runOptions']],
		['waitForCompletion', {}, ['generationId', 'mode', 'runOptions']],
	])('of %s as a tool what has an effect there, with %j', (name, chosen, fields) => {
		const { description } = nodeNamed(name);
		const tool = { description: { ...description, name: `${name}Tool` } } as INodeType;
		const visible = description.properties.filter(({ type }) => type !== 'hidden');
		expect(shown(visible, chosen, tool)).toEqual(['toolDescription', ...fields]);
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
