import {
	NodeConnectionTypes,
	type INodeTypeDescription,
	type UsableAsToolDescription,
} from 'n8n-workflow';

import { CREDENTIAL } from './transport';

/** What is the same of every node. */
export const sharedDescription = {
	version: 1,
	inputs: [NodeConnectionTypes.Main],
	outputs: [NodeConnectionTypes.Main],
	credentials: [{ name: CREDENTIAL, required: true }],
} satisfies Partial<INodeTypeDescription>;

/** Under a node's name: the chosen model. In a subtitle n8n has already unwrapped the picker, and there is no input yet. */
export const modelSubtitle =
	'={{ ($rawParameter["model"] || "Choose a Model").replace(/^=.*/s, "Model by Expression") }}';

/**
 * Marks a node as usable by AI agents. The panel's description is short; an agent has to be told what a call costs and
 * hands on: never a file.
 *
 * @param description for the agent
 */
export function asTool(description: string): UsableAsToolDescription {
	return { replacements: { description } };
}
