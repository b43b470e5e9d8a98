import type { INodeParameters } from 'n8n-workflow';

import type { WorkflowFile } from '../../tools/n8n/rest';

/** A node of a workflow, with those fields that differ between the compared workflows. */
export interface Step {
	name: string;
	type: string;
	version: number;
	parameters: INodeParameters;
	/** The type of its credential. */
	credential?: string;
}

/** A connection from a node to another one, by the index of the output (0 by default). */
export type Edge = [from: string, to: string, output?: number];

interface Target {
	node: string;
	type: 'main';
	index: number;
}

/** The node that the editor's button starts. */
export const trigger = 'Start';
/** The node that returns one item for each prompt. */
export const prompts = 'Prompts';

/** Returns a workflow that is started manually and passes one item for each prompt to the given steps. */
export function workflowOf(
	name: string,
	texts: string[],
	steps: Step[],
	edges: Edge[],
): WorkflowFile {
	const all = [...source(texts), ...steps];
	const nodes = all.map(({ version, credential, ...step }, index) => ({
		...step,
		id: step.name,
		typeVersion: version,
		position: [index * 220, 0],
		credentials: credential && { [credential]: { id: null, name: '' } },
	}));
	const connections = connectionsOf([[trigger, 'List'], ['List', prompts], ...edges]);
	return { name, nodes, connections, settings: { executionOrder: 'v1' } };
}

function source(texts: string[]): Step[] {
	const list = { mode: 'raw', jsonOutput: JSON.stringify({ prompt: texts }), options: {} };
	const split = { fieldToSplitOut: 'prompt', options: {} };
	return [
		{ name: trigger, type: 'n8n-nodes-base.manualTrigger', version: 1, parameters: {} },
		{ name: 'List', type: 'n8n-nodes-base.set', version: 3.4, parameters: list },
		{ name: prompts, type: 'n8n-nodes-base.splitOut', version: 1, parameters: split },
	];
}

function connectionsOf(edges: Edge[]): Record<string, { main: Target[][] }> {
	const connections: Record<string, { main: Target[][] }> = {};
	for (const [from, to, output = 0] of edges) {
		const { main } = (connections[from] ??= { main: [] });
		while (main.length <= output) main.push([]);
		main[output].push({ node: to, type: 'main', index: 0 });
	}
	return connections;
}
