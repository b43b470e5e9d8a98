/**
 * Runs workflows through n8n's real engine (`n8n-core`) in this process, without n8n's server:
 * for tests of nodes, for the demo and for benches.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { NodeHelpers, createRunExecutionData } from 'n8n-workflow';
import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	IDataObject,
	INode,
	INodeCredentialTestResult,
	INodeExecutionData,
	INodeListSearchResult,
	INodeParameters,
	IRunExecutionData,
	Workflow,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import { retry, resume } from './again';
import type { RetryOptions } from './again';
import { agent, agentType, toolWorkflow } from './agent';
import type { ToolCall, ToolPath } from './agent';
import { openServices } from './container';
import type { BinaryMode, Services } from './container';
import type { CredentialsByType } from './credentials';
import { listSearch, testCredential } from './design-time';
import type { ListSearch } from './design-time';
import { execute, openWorkflow } from './execution';
import type { Stopping } from './start';
import type { Host } from './host';
import { LogBook } from './logging';
import type { LogLine } from './logging';
import { TypeRegistry } from './node-types';
import type { AnyNodeType } from './node-types';
import { openPackage } from './package-loader';
import type { NodesFrom } from './package-loader';
import { Run } from './run';
import type { WorkflowJson } from './run';

export { Run } from './run';
export type { WorkflowJson } from './run';
export type { Control, Stopping } from './start';
export type { RetryOptions } from './again';
export type { ListSearch } from './design-time';
export type { LogLine } from './logging';
export type { ToolCall, ToolPath } from './agent';
export type { CredentialsByType } from './credentials';

/** How an engine is set up. Everything has a default. */
export interface EngineOptions {
	/** Where the nodes of the package come from; default: `source`. */
	nodes?: NodesFrom;
	/** The folder of the package under test; default: this repository. */
	packageDir?: string;
	/** Default: `filesystem`. */
	binaryMode?: BinaryMode;
	/** Where binary data is stored; default: a temporary folder, removed by `close`. */
	storageDir?: string;
	/** Called with every line that n8n and the nodes log; by default lines are only kept. */
	log?: (line: LogLine) => void;
	/** Node types that are in no package, by full type name. */
	extraNodes?: Record<string, AnyNodeType>;
	extraCredentials?: ICredentialType[];
}

/** How one execution is started. */
export interface RunOptions extends Stopping {
	credentials?: CredentialsByType;
	/** The items that the start node puts out when it is a trigger, or is given otherwise. */
	input?: INodeExecutionData[];
	/** Default: `trigger`, as in production. */
	mode?: WorkflowExecuteMode;
}

/** How a node is called as a tool. */
export interface ToolOptions extends RunOptions {
	/** Default: `invoke`. */
	path?: ToolPath;
	/** Settings of the tool's node, such as `retryOnFail` or `onError`. */
	node?: Partial<INode>;
}

const repository = resolve(__dirname, '../..');

/**
 * Sets up n8n's engine in this process. Only one engine can be open at a time.
 * Throws when another one is open, or when the package's manifest cannot be read.
 */
export async function createEngine(options: EngineOptions = {}): Promise<Engine> {
	const { nodes = 'source', packageDir = repository, binaryMode = 'filesystem' } = options;
	const log = new LogBook(options.log);
	const services = await openServices({ binaryMode, storageDir: options.storageDir, log });
	try {
		const ours = openPackage(packageDir, nodes);
		const extraNodes = { [agentType]: agent, ...options.extraNodes };
		const types = new TypeRegistry(ours, extraNodes, options.extraCredentials ?? []);
		return new Engine(types, services, log);
	} catch (error) {
		await services.close();
		throw error;
	}
}

/** Reads a workflow file as n8n exports it. Throws when it is not JSON. */
export function readWorkflow(file: string): WorkflowJson {
	return JSON.parse(readFileSync(file, 'utf8')) as WorkflowJson;
}

/** n8n's engine with one set of node types and one storage. */
export class Engine {
	private readonly host: Host;
	private lastId = 0;

	/** Use `createEngine`. */
	constructor(
		types: TypeRegistry,
		private readonly services: Services,
		log: LogBook,
	) {
		const nextId = () => String(++this.lastId);
		this.host = { types, binaryData: services.binaryData, log, records: new Map(), nextId };
	}

	/** Every line that n8n and the nodes have logged since the engine was opened. */
	get logs(): LogLine[] {
		return this.host.log.lines;
	}

	/**
	 * Runs a workflow until it ends, fails, sleeps or is stopped. Rejects only when it cannot begin:
	 * an unknown node type, no node to start from. What fails later is in the returned run.
	 */
	async run(workflow: WorkflowJson, options: RunOptions = {}): Promise<Run> {
		const { credentials = {}, mode = 'trigger' } = options;
		const data = this.startData(workflow, { ...options, credentials, mode });
		const { signal, onReady, timeoutMs } = options;
		const stopping = { signal, onReady, timeoutMs };
		const id = this.host.nextId();
		return this.seen(
			await execute(this.host, { ...stopping, id, workflow, mode, credentials, data }),
		);
	}

	/** n8n's "Retry execution". Throws when the execution has succeeded. */
	async retry(run: Run, options?: RetryOptions): Promise<Run> {
		return this.seen(await retry(this.host, run.record, options));
	}

	/** Wakes a sleeping execution now. Throws when it does not sleep. */
	async resume(run: Run, stopping?: Stopping): Promise<Run> {
		return this.seen(await resume(this.host, run.record, stopping));
	}

	/** Returns an execution by its id, for sub-workflows; undefined when there is none. */
	execution(id: string): Run | undefined {
		const record = this.host.records.get(id);
		return record && this.seen(record);
	}

	/** Returns a node type as n8n has loaded it. Throws when it is unknown. */
	nodeType(type: string, version?: number) {
		return this.host.types.getByNameAndVersion(type, version);
	}

	/** Searches a list of a node's parameter. Throws what the node throws. */
	async listSearch(search: ListSearch): Promise<INodeListSearchResult> {
		return await listSearch(this.host, search);
	}

	/** Tests a credential by the request that its type declares. */
	async testCredential(
		type: string,
		data: ICredentialDataDecryptedObject,
	): Promise<INodeCredentialTestResult> {
		return await testCredential(this.host, type, data);
	}

	/**
	 * Calls a node as the tool of an AI agent, once for each set of arguments.
	 * Returns what the agent would be given, and the run itself; a failed tool fails the run.
	 */
	async runAsTool(
		nodeType: string,
		parameters: INodeParameters,
		args: IDataObject | IDataObject[] = {},
		{ path = 'invoke', node, ...options }: ToolOptions = {},
	): Promise<{ calls: ToolCall[]; run: Run }> {
		const input = [args].flat().map((json) => ({ json }));
		const run = await this.run(toolWorkflow(nodeType, parameters, path, node), {
			...options,
			input,
		});
		const calls = run.output('Agent').map(({ json }) => json as unknown as ToolCall);
		return { calls, run };
	}

	/** Forgets n8n's services and removes what the engine stored in its temporary folder. */
	async close(): Promise<void> {
		await this.services.close();
	}

	private seen(record: Run['record']): Run {
		return new Run(record, this.services.binaryData);
	}

	private startData(
		json: WorkflowJson,
		{ credentials = {}, mode, input }: RunOptions,
	): IRunExecutionData {
		const workflow = openWorkflow(this.host, json, credentials);
		const node = workflow.getStartNode();
		if (!node) throw new Error('No node to start the workflow from could be found');
		const items = input ?? [{ json: {} }];
		// A manual execution runs its trigger; the editor hands in other items by pinning them.
		const pinned = input && mode === 'manual' && this.isTrigger(workflow, node);
		return createRunExecutionData({
			startData: {},
			executionData: { nodeExecutionStack: [{ node, data: { main: [items] }, source: null }] },
			resultData: {
				pinData: {
					...(mode === 'manual' && json.pinData),
					...(pinned && { [node.name]: input }),
				},
			},
		});
	}

	private isTrigger(workflow: Workflow, { type, typeVersion }: INode): boolean {
		const { description } = workflow.nodeTypes.getByNameAndVersion(type, typeVersion);
		return NodeHelpers.isTriggerNode(description);
	}
}
