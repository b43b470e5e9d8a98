import { NodeConnectionTypes, type INodeProperties, type INodeType } from 'n8n-workflow';

/**
 * A node of the bench's own, with as little around it as n8n allows.
 *
 * @param description what it does
 */
export function benchNode(
	name: string,
	description: string,
	execute: NonNullable<INodeType['execute']>,
	properties: INodeProperties[] = [],
): INodeType {
	return {
		description: {
			name,
			displayName: name,
			group: ['transform'],
			version: 1,
			description,
			defaults: { name },
			inputs: [NodeConnectionTypes.Main],
			outputs: [NodeConnectionTypes.Main],
			properties,
		},
		execute,
	};
}
