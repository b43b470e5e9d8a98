import { basename, join } from 'node:path';
import type { CodexData, INodeType } from 'n8n-workflow';

import manifest from '../../package.json';

/** The sources of the nodes that package.json names, without an extension. */
export const nodeFiles = manifest.n8n.nodes.map((built) =>
	join(__dirname, '../..', built.replace(/^dist\//, '').replace(/\.js$/, '')),
);

/** One of each node of the package, in the order of package.json. */
export const allNodes = nodeFiles.map((file) => {
	const exported = jest.requireActual<Record<string, new () => INodeType>>(`${file}.ts`);
	return new exported[basename(file, '.node')]();
});

/** What n8n knows about each node besides its description, in the same order. */
export const allCodices = nodeFiles.map((file) => jest.requireActual<CodexData>(`${file}.json`));

/** Returns the node with this name. */
export function nodeNamed(name: string): INodeType {
	const found = allNodes.find(({ description }) => description.name === name);
	if (!found) throw new Error(`There is no node ${name}`);
	return found;
}
