/** The nodes of the package, from their sources, in the order of package.json. */
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import type { INodeType } from 'n8n-workflow';

import manifest from '../package.json';

/** The sources of the nodes, without an extension. */
export const nodeFiles = manifest.n8n.nodes.map((built) =>
	join(__dirname, '..', built.replace(/^dist\//, '').replace(/\.js$/, '')),
);

const load = createRequire(__filename);

/** One of each node. The extension is given, because beside each source is a JSON file of the same name. */
export const ownNodes = nodeFiles.map((file) => {
	const exported = load(`${file}.ts`) as Record<string, new () => INodeType>;
	return new exported[basename(file, '.node')]();
});

/** Returns the node with this name. */
export function nodeNamed(name: string): INodeType {
	const found = ownNodes.find(({ description }) => description.name === name);
	if (!found) throw new Error(`There is no node ${name}`);
	return found;
}
