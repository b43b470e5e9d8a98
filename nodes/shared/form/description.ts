import { NodeConnectionTypes, type INodeProperties, type INodeTypeDescription } from 'n8n-workflow';

import { CREDENTIAL } from '../http/credential';

export const sharedDescription = {
	version: 1,
	inputs: [NodeConnectionTypes.Main],
	outputs: [NodeConnectionTypes.Main],
	credentials: [{ name: CREDENTIAL, required: true }],
} satisfies Partial<INodeTypeDescription>;

/** The subtitle of a node: its model. In a subtitle the resource locator is already unwrapped, and no input is available. */
export const modelSubtitle =
	'={{ ($rawParameter["model"] || "Choose a Model").replace(/^=.*/s, "Model by Expression") }}';

/**
 * The description that an agent reads, unless the user writes another one. Without this field, n8n adds one whose default
 * is the description in the node panel: it uses that of `usableAsTool` only in the editor. It must state what a call costs
 * and returns; a tool never returns a file.
 */
export function toolDescriptionField(description: string): INodeProperties {
	return {
		displayName: 'Description',
		name: 'toolDescription',
		type: 'string',
		default: description,
		typeOptions: { rows: 2 },
		description: 'Tells the agent what this tool does, what a call costs, and what it returns',
		displayOptions: { show: { '@tool': [true] } },
	};
}
