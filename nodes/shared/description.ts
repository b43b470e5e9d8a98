import { NodeConnectionTypes, type INodeTypeDescription } from 'n8n-workflow';

import { CREDENTIAL } from './transport';

/** What is the same of every node. */
export const sharedDescription = {
	version: 1,
	inputs: [NodeConnectionTypes.Main],
	outputs: [NodeConnectionTypes.Main],
	credentials: [{ name: CREDENTIAL, required: true }],
} satisfies Partial<INodeTypeDescription>;
