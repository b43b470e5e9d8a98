import { Workflow, type INode, type INodeParameters, type INodeType } from 'n8n-workflow';

import type { NodeName } from '../support/workflow';
import { allNodes } from '../support/all-nodes';

/** What stands under a node's name on the canvas: rendered as the editor does it. */
function subtitle(name: NodeName, parameters: INodeParameters): unknown {
	const type = allNodes.find(({ description }) => description.name === name) as INodeType;
	const node: INode = { id: '1', name, type: name, typeVersion: 1, position: [0, 0], parameters };
	const workflow = new Workflow({
		nodes: [node],
		connections: {},
		active: false,
		nodeTypes: {
			getByName: () => type,
			getByNameAndVersion: () => type,
			getKnownTypes: () => ({}),
		},
	});
	// The workflow has filled in the defaults of what was not chosen.
	const chosen = workflow.nodes[name];
	return workflow.expression.getSimpleParameterValue(
		chosen,
		type.description.subtitle,
		'internal',
		{},
	);
}

describe('the subtitle on the canvas', () => {
	it.each(['list', 'id'])('is the model that was picked: mode %s', (mode) => {
		const model = { __rl: true, mode, value: 'aurora-1' };
		expect(subtitle('imageGeneration', { model })).toBe('aurora-1');
		expect(subtitle('videoGeneration', { model })).toBe('aurora-1');
	});

	it('says where the model is worked out: on the canvas there is nothing to work it out from', () => {
		const model = { __rl: true, mode: 'id', value: '={{ $json.id\n}}' };
		expect(subtitle('imageGeneration', { model })).toBe('Model by Expression');
		expect(subtitle('imageGeneration', { model: '={{ $json.id }}' })).toBe('Model by Expression');
		const mode = '={{ $json.mode }}';
		expect(subtitle('waitForCompletion', { mode })).toBe('Mode by Expression');
	});

	it('asks for a model where none was picked', () => {
		expect(subtitle('imageGeneration', {})).toBe('Choose a Model');
		const model = { __rl: true, mode: 'list', value: '' };
		expect(subtitle('videoGeneration', { model })).toBe('Choose a Model');
	});

	it.each<[NodeName, INodeParameters, string]>([
		['waitForCompletion', {}, 'Poll Until Ready'],
		['waitForCompletion', { mode: 'suspend' }, 'Suspend Until Ready'],
		['waitForCompletion', { mode: 'check' }, 'Check Once'],
		['generationModels', {}, 'Get Many'],
		['generationModels', { operation: 'get' }, 'Get'],
		['generationCredits', {}, 'Get Balance'],
		['generationCredits', { operation: 'getSummary' }, 'Get Summary'],
	])('says what %s does with %j', (name, parameters, text) => {
		expect(subtitle(name, parameters)).toBe(text);
	});
});
