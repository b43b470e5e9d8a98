import { basename } from 'node:path';
import type { INode, INodeParameters } from 'n8n-workflow';

import manifest from '../../package.json';
import type { NodeParts } from '../../tools/engine/in-a-row';

/** The name of a node in workflows. */
export type NodeName = string;

/** The names of the nodes that package.json lists. */
export const nodeNames: NodeName[] = manifest.n8n.nodes.map((file) => {
	const name = basename(file, '.node.js');
	return name[0].toLowerCase() + name.slice(1);
});

/** Returns the full type name of a node of this package. */
export function ownType(name: NodeName): string {
	if (!nodeNames.includes(name)) throw new Error(`There is no node ${name}`);
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
