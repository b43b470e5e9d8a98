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

/** Returns the parameters of a usual step with those of a test. Options of the test are added to the usual ones. */
export function withOptions(usual: INodeParameters, given: INodeParameters): INodeParameters {
	const { options } = given;
	if (typeof options === 'string') return { ...usual, ...given };
	return { ...usual, ...given, options: { ...(usual.options as object), ...(options as object) } };
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
