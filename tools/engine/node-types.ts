import { NodeHelpers } from 'n8n-workflow';
import type {
	ICredentialType,
	IDataObject,
	INodeType,
	INodeTypes,
	IVersionedNodeType,
} from 'n8n-workflow';
import { toAiTool } from './ai-tool';
import { coreNodes } from './core-nodes';
import type { PackageLoader } from './package-loader';

/** A node as a package exports it: with or without several versions inside. */
export type AnyNodeType = INodeType | IVersionedNodeType;

/** Finds node and credential types by name, as n8n does: in the package under test, and as tools of agents. */
export class TypeRegistry implements INodeTypes {
	private readonly tools = new Map<string, INodeType>();

	/** Takes the opened package, and types that are not in it; those come first. */
	constructor(
		private readonly ours: PackageLoader,
		private readonly extraNodes: Record<string, AnyNodeType>,
		private readonly extraCredentials: ICredentialType[],
	) {}

	/** Returns the node of that full type name. Throws when there is none. */
	getByName(type: string): AnyNodeType {
		const node = this.extraNodes[type] ?? this.fromPackage(type) ?? coreNodes[type];
		if (!node) throw new Error(`Unrecognized node type: ${type}`);
		return node;
	}

	/** Returns one version of a node, or the tool made of it when the name ends with `Tool`. */
	getByNameAndVersion(type: string, version?: number): INodeType {
		const key = `${type}@${version ?? ''}`;
		const tool = this.tools.get(key) ?? this.makeTool(type, version);
		if (!tool) return NodeHelpers.getVersionedNodeType(this.getByName(type), version);
		this.tools.set(key, tool);
		return tool;
	}

	getKnownTypes(): IDataObject {
		return {};
	}

	/** Returns the credential type of that name. Throws when there is none. */
	credential(name: string): ICredentialType {
		const extra = this.extraCredentials.find((type) => type.name === name);
		if (extra) return extra;
		return this.ours.getCredential(name).type;
	}

	private makeTool(type: string, version?: number): INodeType | undefined {
		if (!type.endsWith('Tool') || this.has(type)) return undefined;
		const base = NodeHelpers.getVersionedNodeType(this.getByName(type.slice(0, -4)), version);
		if (!base.description.usableAsTool) throw new Error(`${type}: not usable as a tool`);
		return toAiTool(base);
	}

	private has(type: string): boolean {
		return Boolean(this.extraNodes[type] ?? this.fromPackage(type) ?? coreNodes[type]);
	}

	private fromPackage(type: string): AnyNodeType | undefined {
		const dot = type.lastIndexOf('.');
		if (this.ours.packageName !== type.slice(0, dot)) return undefined;
		return whereKnown(() => this.ours.getNode(type.slice(dot + 1)).type);
	}
}

/** Not finding a type is an answer; a type that fails to load is an error. */
function whereKnown<T>(find: () => T): T | undefined {
	try {
		return find();
	} catch (error) {
		if (error instanceof Error && error.message.startsWith('Unrecognized node type')) {
			return undefined;
		}
		throw error;
	}
}
