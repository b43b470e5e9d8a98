import { resolve } from 'node:path';
import type { BinaryDataService } from 'n8n-core';
import { openServices } from './container';
import type { BinaryMode } from './container';
import { LogBook } from './logging';
import type { LogLine } from './logging';
import { TypeRegistry } from './node-types';
import type { AnyNodeType, DeriveNode } from './node-types';
import { openPackage } from './package-loader';
import type { NodesFrom } from './package-loader';
import type { ExecutionRecord } from './run';

/** The options of an engine. All have defaults. */
export interface EngineOptions {
	/** Where the nodes of the package come from; default: `source`. */
	nodes?: NodesFrom;
	/** The folder of the package under test; default: this repository. */
	packageDir?: string;
	/** Default: `filesystem`. */
	binaryMode?: BinaryMode;
	/** Where binary data is stored. Default: a temporary folder, which `close` removes. */
	storageDir?: string;
	/** n8n's public address (`WEBHOOK_URL`), with a slash at its end. Default: `http://localhost:5678/`. */
	publicUrl?: string;
	/** Called with every line that n8n and the nodes log. By default, lines are only stored. */
	log?: (line: LogLine) => void;
	/** Node types that are not part of a package, by full type name. */
	extraNodes?: Record<string, AnyNodeType>;
	/** Derives node types from others. Default: none. */
	deriveNode?: DeriveNode;
}

/** The state that the parts of an engine share. `records` replaces n8n's table of executions. */
export interface Host {
	types: TypeRegistry;
	binaryData: BinaryDataService;
	log: LogBook;
	records: Map<string, ExecutionRecord>;
	publicUrl: string;
	/** Returns the next execution id. */
	nextId: () => string;
	/** Resets n8n's services and removes the contents of the temporary folder. */
	close: () => Promise<void>;
}

const repository = resolve(__dirname, '../..');

/**
 * Sets up n8n's services and the node types. Only one host can be open at a time.
 * Throws if another one is open, or if the package's manifest cannot be read.
 */
export async function openHost(options: EngineOptions): Promise<Host> {
	const { nodes = 'source', packageDir = repository, binaryMode = 'filesystem' } = options;
	const { publicUrl = 'http://localhost:5678/' } = options;
	const log = new LogBook(options.log);
	const services = await openServices({ binaryMode, storageDir: options.storageDir, log });
	try {
		const ours = openPackage(packageDir, nodes);
		const types = new TypeRegistry(ours, options.extraNodes ?? {}, options.deriveNode);
		let lastId = 0;
		return {
			...services,
			types,
			log,
			publicUrl,
			records: new Map(),
			nextId: () => String(++lastId),
		};
	} catch (error) {
		await services.close();
		throw error;
	}
}
