import {
	NodeConnectionTypes,
	type INodeTypeDescription,
	type UsableAsToolDescription,
} from 'n8n-workflow';

import { CREDENTIAL } from '../http/credential';

/** The description properties that all nodes share. */
export const sharedDescription = {
	version: 1,
	inputs: [NodeConnectionTypes.Main],
	outputs: [NodeConnectionTypes.Main],
	credentials: [{ name: CREDENTIAL, required: true }],
} satisfies Partial<INodeTypeDescription>;

/**
 * The subtitle of a node: its model. In a subtitle the resource locator is already unwrapped, and no input is
 * available.
 */
export const modelSubtitle =
	'={{ ($rawParameter["model"] || "Choose a Model").replace(/^=.*/s, "Model by Expression") }}';

/**
 * Marks a node as usable by AI agents.
 *
 * @param description for the agent. It must state what a call costs and returns; a tool never returns a file.
 */
export function asTool(description: string): UsableAsToolDescription {
	return { replacements: { description } };
}
