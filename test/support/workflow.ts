import type { INode, INodeParameters } from 'n8n-workflow';

import type { NodeParts } from '../../tools/engine/in-a-row';

/** The five nodes of this package. */
export type NodeName =
	| 'imageGeneration'
	| 'videoGeneration'
	| 'waitForCompletion'
	| 'generationModels'
	| 'generationCredits';

/** Returns the full type name of a node of this package. */
export function ownType(name: NodeName): string {
	return `n8n-nodes-media-generation.${name}`;
}

/** Returns one of our nodes. `settings` are those of the node's Settings tab, such as `retryOnFail`. */
export function ownNode(
	name: string,
	type: NodeName,
	parameters: INodeParameters,
	settings: Partial<INode> = {},
): NodeParts {
	return { ...settings, name, type: ownType(type), parameters };
}
