import { NodeConnectionTypes, type INodeProperties, type INodeTypeDescription } from 'n8n-workflow';

import { CREDENTIAL } from '../http/credential';

export const sharedDescription = {
	version: 1,
	inputs: [NodeConnectionTypes.Main],
	outputs: [NodeConnectionTypes.Main],
	credentials: [{ name: CREDENTIAL, required: true }],
} satisfies Partial<INodeTypeDescription>;

/** The text below the node's name: its model. An expression in `model` is not evaluated here: `=` begins its raw text. */
export const modelSubtitle =
	'={{ ($rawParameter["model"] || "Choose a Model").replace(/^=.*/s, "Model by Expression") }}';

/**
 * The field whose text tells an agent what the tool does. Without this field, n8n would give the agent the description of
 * the node instead. The text must say what a call costs and returns. It must not promise a file: a tool returns JSON only.
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
