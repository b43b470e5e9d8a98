import { NodeConnectionTypes } from 'n8n-workflow';
import type { INodeType, INodeTypeDescription } from 'n8n-workflow';

type Parts = Partial<Omit<INodeType, 'description'>> & {
	description?: Partial<INodeTypeDescription>;
};

/** A node with one input and one output, and what a test gives it. */
export function testNode(name: string, { description, ...parts }: Parts): INodeType {
	return {
		description: {
			name,
			displayName: name,
			group: ['transform'],
			version: 1,
			description: `Does ${name}`,
			defaults: { name },
			inputs: [NodeConnectionTypes.Main],
			outputs: [NodeConnectionTypes.Main],
			properties: [],
			...description,
		},
		...parts,
	};
}
