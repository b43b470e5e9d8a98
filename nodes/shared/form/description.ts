import { NodeConnectionTypes, type INodeProperties, type INodeTypeDescription } from 'n8n-workflow';

import { CREDENTIAL } from '../http/credential';

export const sharedDescription = {
	version: 1,
	inputs: [NodeConnectionTypes.Main],
	outputs: [NodeConnectionTypes.Main],
	credentials: [{ name: CREDENTIAL, required: true }],
} satisfies Partial<INodeTypeDescription>;

/** Shows the model below the node's name. n8n gives a subtitle the text of `model`, and evaluates no expression in it. */
export const modelSubtitle =
	'={{ ($rawParameter["model"] || "Choose a Model").replace(/^=.*/s, "Model by Expression") }}';

/**
 * The field with the description that an agent reads. Without this field, n8n would add one, whose default is not the
 * description in `usableAsTool` (n8n shows that only in the editor) but the description of the node. `description` must
 * state what a call costs and returns; a tool never returns a file.
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
