import { NodeConnectionTypes } from 'n8n-workflow';
import type { INodeType, INodeTypeDescription } from 'n8n-workflow';

/** What a node has; its description says only what a bare one does not. */
type Parts = Partial<Omit<INodeType, 'description'>> & {
	description?: Partial<INodeTypeDescription>;
};

/** A node with one input, one output and no fields, and the parts that it is given. */
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
