import { readFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { PackageDirectoryLoader } from 'n8n-core';
import type { ICredentialType, INodeType, IVersionedNodeType } from 'n8n-workflow';

/** `dist`: the built package, as n8n loads it. `source`: the TypeScript files it is built from. */
export type NodesFrom = 'dist' | 'source';

/** The part of n8n's package loaders that is used here. */
export interface PackageLoader {
	readonly packageName: string;
	readonly known: { nodes: Record<string, unknown> };
	getNode(name: string): { type: INodeType | IVersionedNodeType };
	getCredential(name: string): { type: ICredentialType };
}

interface Manifest {
	n8n?: { nodes?: string[]; credentials?: string[] };
}

/** n8n's loader, but it loads the sources instead of the built files. */
class SourceLoader extends PackageDirectoryLoader {
	protected override resolvePath(file: string): string {
		return super.resolvePath(file.replace(/^dist\//, '').replace(/\.js$/, '.ts'));
	}
}

/**
 * Opens a community package by its `package.json`. Each node is loaded on first use, so one that does not compile yet
 * does not affect the others. Throws if the manifest cannot be read.
 */
export function openPackage(directory: string, from: NodesFrom): PackageLoader {
	const loader =
		from === 'dist' ? new PackageDirectoryLoader(directory) : new SourceLoader(directory);
	const { n8n } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest;
	for (const sourcePath of n8n?.nodes ?? []) {
		const className = classNameOf(sourcePath);
		loader.known.nodes[typeNameOf(className)] = { className, sourcePath };
	}
	for (const sourcePath of n8n?.credentials ?? []) {
		const className = classNameOf(sourcePath);
		loader.known.credentials[typeNameOf(className)] = { className, sourcePath };
	}
	return loader;
}

/** Like n8n, takes the class name from the file name. */
function classNameOf(file: string): string {
	return parse(file).name.split('.')[0];
}

/** The convention of this package: the type name is the class name with a lowercase first letter. */
function typeNameOf(className: string): string {
	return className[0].toLowerCase() + className.slice(1);
}
