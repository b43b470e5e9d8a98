import { NodeHelpers } from 'n8n-workflow';
import type {
	ICredentialType,
	IDataObject,
	INodeType,
	INodeTypes,
	IVersionedNodeType,
} from 'n8n-workflow';
import { coreNodes } from './core-nodes';
import type { PackageLoader } from './package-loader';

/** A node as a package exports it: with or without several versions inside. */
export type AnyNodeType = INodeType | IVersionedNodeType;

/** Derives an unknown node type from a `known` one; `undefined` if it cannot. */
export type DeriveNode = (
	type: string,
	known: (type: string) => INodeType,
) => INodeType | undefined;

/** Finds node and credential types by name, as n8n does, in the package under test. */
export class TypeRegistry implements INodeTypes {
	/** Takes the opened package, extra types, which take precedence, and a function that derives further types. */
	constructor(
		private readonly ours: PackageLoader,
		private readonly extraNodes: Record<string, AnyNodeType>,
		private readonly derive: DeriveNode = () => undefined,
	) {}

	/** Returns the node of that full type name. Throws if there is none. */
	getByName(type: string): AnyNodeType {
		const node = this.find(type);
		if (!node) throw new Error(`Unrecognized node type: ${type}`);
		return node;
	}

	/** Returns one version of a node. Throws if there is none. */
	getByNameAndVersion(type: string, version?: number): INodeType {
		const known = (name: string) => this.getByNameAndVersion(name, version);
		const derived = this.find(type) ? undefined : this.derive(type, known);
		return derived ?? NodeHelpers.getVersionedNodeType(this.getByName(type), version);
	}

	getKnownTypes(): IDataObject {
		return {};
	}

	/** Returns the credential type of that name. Throws if there is none. */
	credential(name: string): ICredentialType {
		return this.ours.getCredential(name).type;
	}

	/** Returns all nodes of the package. */
	ownNodes(): INodeType[] {
		return Object.keys(this.ours.known.nodes).map((name) =>
			this.getByNameAndVersion(`${this.ours.packageName}.${name}`),
		);
	}

	private find(type: string): AnyNodeType | undefined {
		return this.extraNodes[type] ?? this.fromPackage(type) ?? coreNodes[type];
	}

	private fromPackage(type: string): AnyNodeType | undefined {
		const dot = type.lastIndexOf('.');
		if (this.ours.packageName !== type.slice(0, dot)) return undefined;
		return whereKnown(() => this.ours.getNode(type.slice(dot + 1)).type);
	}
}

/** Returns undefined if a type is unknown. Throws if a type fails to load. */
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
