import { join } from 'node:path';
import { Workflow } from 'n8n-workflow';
import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';

import { readWorkflow } from '../../tools/engine';
import { openKeyedStage } from './keyed';

const { stage, rows, created } = openKeyedStage();

function exampleNode(file: string, name: string): INode {
	const { nodes } = readWorkflow(join(__dirname, '../../examples', file));
	const node = nodes.find((one) => one.name === name);
	if (!node) throw new Error(`There is no node ${name}`);
	return node;
}

describe('examples/mcp-server.json, called', () => {
	const call = async (name: string, ...args: IDataObject[]) => {
		const { type, parameters } = exampleNode('mcp-server.json', name);
		const options = { credentials: stage.credentials() };
		const ownType = type.replace(/Tool$/, '');
		const { calls, run } = await stage.engine.runAsTool(ownType, parameters, args, options);
		expect(run.error).toBeUndefined();
		return calls.map(({ response }) => (JSON.parse(response) as IDataObject[])[0].id);
	};

	it('returns the same image for the same name and prompt, and another one for a new prompt', async () => {
		const logo = { key: 'logo-1', prompt: 'A fox [seconds: 0]', aspect_ratio: '1:1' };
		const again = await call('Image Generation', logo, logo);
		expect(again[1]).toBe(again[0]);
		const others = await call(
			'Image Generation',
			{ ...logo, prompt: 'An owl [seconds: 0]' },
			{ ...logo, aspect_ratio: '16:9' },
		);
		expect(new Set([...again, ...others]).size).toBe(3);
		expect(created()).toBe(3);
		for (const { key } of rows()) expect(key).toMatch(/^logo-1 [\da-f]{16}$/);
	});

	it('returns the same video if only the signature of its image URL differs', async () => {
		const image = 'https://files.example.com/fox.png';
		const clip = { key: 'clip-1', prompt: 'A fox runs [seconds: 0]', image_url: `${image}?sig=1` };
		const again = await call('Video Generation', clip, { ...clip, image_url: `${image}?sig=2` });
		expect(again[1]).toBe(again[0]);
		const others = await call(
			'Video Generation',
			{ ...clip, image_url: '' },
			{ ...clip, prompt: 'A fox sleeps [seconds: 0]' },
		);
		expect(new Set([...again, ...others]).size).toBe(3);
		expect(created()).toBe(3);
	});
});

describe('examples/mcp-agent-signed-in.json', () => {
	/** Evaluates the expression of *Created* for an output of the agent. */
	const idsOf = (intermediateSteps: IDataObject[]): unknown => {
		const node = exampleNode('mcp-agent-signed-in.json', 'Created');
		// The constructor of `Workflow` drops parameters that the type does not have.
		const { assignments } = node.parameters.assignments as { assignments: INodeParameters[] };
		const nodeTypes = {
			getByName: () => stage.engine.nodeType('n8n-nodes-base.noOp', 1),
			getByNameAndVersion: () => stage.engine.nodeType('n8n-nodes-base.noOp', 1),
			getKnownTypes: () => ({}),
		};
		const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
		const items = [{ json: { intermediateSteps } }];
		const { value } = assignments[0];
		return workflow.expression.getParameterValue(value, null, 0, 0, node.name, items, 'manual', {});
	};
	const step = (observation: unknown, tool = 'Connector_create_generation') => ({
		action: { tool },
		observation: typeof observation === 'string' ? observation : JSON.stringify(observation),
	});
	const text = (content: string) => [{ response: [{ type: 'text', text: content }] }];

	it('reads the IDs of what was created, and skips errors in plain text', () => {
		const steps = [
			step(text('{"id":"gen_0"}'), 'Connector_check_generation'),
			step(text('{"id":"gen_1"}')),
			step([{ structuredContent: { id: 'gen_2' }, response: [] }]),
			step(text('The daily limit is used up.')),
			step(text('{"error":{"code":"CONNECTION_PAUSED"}}')),
			step([{ error: 'Connection closed' }]),
			step([{ response: [] }]),
			step('Execution was cancelled'),
		];
		expect(idsOf(steps)).toEqual(['gen_1', 'gen_2']);
	});
});
