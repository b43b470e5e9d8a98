import type { INode } from 'n8n-workflow';
import type { WorkflowJson } from './run';

/** The properties of a node that differ from those of a newly added one. */
export type NodeParts = Partial<INode> & Pick<INode, 'name' | 'type'>;

/** Returns a workflow with a manual trigger, followed by the given nodes in sequence. */
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
		connections[nodes[index].name] = { main: [[{ node: name, type: 'main', index: 0 }]] };
	}
	return { id: 'workflow', nodes, connections };
}
