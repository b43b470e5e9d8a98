import { Workflow, type INode, type INodeParameters } from 'n8n-workflow';

import type { NodeName } from '../support/workflow';
import { nodeNamed } from '../../tools/own-nodes';

/** Returns the text under a node's name on the canvas, rendered as in the editor. */
function subtitle(name: NodeName, parameters: INodeParameters): unknown {
	const type = nodeNamed(name);
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
	// The workflow has filled in the defaults of unset parameters.
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

	it('says that an expression sets the model, because the canvas cannot evaluate it', () => {
		const model = { __rl: true, mode: 'id', value: '={{ $json.id\n}}' };
		expect(subtitle('imageGeneration', { model })).toBe('Model by Expression');
		expect(subtitle('imageGeneration', { model: '={{ $json.id }}' })).toBe('Model by Expression');
		const mode = '={{ $json.mode }}';
		expect(subtitle('waitForCompletion', { mode })).toBe('Mode by Expression');
	});

	it('asks for a model if none was chosen', () => {
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
