import { NodeConnectionTypes } from 'n8n-workflow';
import type { INodeType, INodeTypeDescription } from 'n8n-workflow';

/** The parts of a node. The description only needs the properties that differ from a bare node. */
type Parts = Partial<Omit<INodeType, 'description'>> & {
	description?: Partial<INodeTypeDescription>;
};

/** Returns a node with one input, one output, no fields, and the given parts. */
export function bareNode(name: string, { description, ...parts }: Parts): INodeType {
	const displayName = description?.displayName ?? name;
	return {
		description: {
			name,
			displayName,
			group: ['transform'],
			version: 1,
			description: displayName,
			defaults: { name: displayName },
			inputs: [NodeConnectionTypes.Main],
			outputs: [NodeConnectionTypes.Main],
			properties: [],
			...description,
		},
		...parts,
	};
}
