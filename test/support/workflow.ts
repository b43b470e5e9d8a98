import { NodeConnectionTypes } from 'n8n-workflow';
import type { INode, INodeParameters } from 'n8n-workflow';

import type { WorkflowJson } from '../../tools/engine';

/** The five nodes of this package. */
export type NodeName =
	| 'imageGeneration'
	| 'videoGeneration'
	| 'waitForCompletion'
	| 'generationModels'
	| 'generationCredits';

/** What a node of a workflow differs in from one that was just put there. */
export type NodeParts = Partial<INode> & { name: string; type: string };

/** The full type name. */
export function ownType(name: NodeName): string {
	return `n8n-nodes-media-generation.${name}`;
}

/** One of our nodes; `settings` are those of the node's Settings tab, such as `retryOnFail`. */
export function ownNode(
	name: string,
	type: NodeName,
	parameters: INodeParameters,
	settings: Partial<INode> = {},
): NodeParts {
	return { ...settings, name, type: ownType(type), parameters };
}

/** A manual trigger, and behind it the given nodes in a row. */
export function inARow(...parts: NodeParts[]): WorkflowJson {
	const trigger = { name: 'Start', type: 'n8n-nodes-base.manualTrigger' };
	const nodes = [trigger, ...parts].map(
		(part, index): INode => ({
			id: part.name,
			typeVersion: 1,
			position: [index * 200, 0],
			parameters: {},
			...part,
		}),
	);
	const connections: WorkflowJson['connections'] = {};
	for (const [index, { name }] of nodes.slice(1).entries()) {
		const to = { node: name, type: NodeConnectionTypes.Main, index: 0 };
		connections[nodes[index].name] = { main: [[to]] };
	}
	return { id: 'workflow', nodes, connections };
}
