/**
 * Runs workflows through n8n's real engine (`n8n-core`) in this process, without n8n's server:
 * for tests of nodes, for the demo and for benches.
 */
import { readFileSync } from 'node:fs';
import { NodeHelpers, createRunExecutionData } from 'n8n-workflow';
import type {
	INode,
	INodeExecutionData,
	IRunExecutionData,
	Workflow,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import type { CredentialsByType } from './credentials';
import { execute, openWorkflow } from './execution';
import { openHost } from './host';
import type { EngineOptions, Host } from './host';
import type { ExecutionRecord, WorkflowJson } from './run';
import { Run } from './run';
import type { Stopping } from './start';

export { Run } from './run';
export type { WorkflowJson } from './run';
export type { Control, Stopping } from './start';
export type { EngineOptions } from './host';
export type { LogLine } from './logging';
export type { CredentialsByType } from './credentials';

/** The options of one execution. */
export interface RunOptions extends Stopping {
	credentials?: CredentialsByType;
	/** The output of the start node if it is a trigger, otherwise its input. */
	input?: INodeExecutionData[];
	/** Default: `trigger`, as in production. */
	mode?: WorkflowExecuteMode;
}

/**
 * Sets up n8n's engine in this process. Only one engine can be open at a time.
 * Throws if another one is open, or if the package's manifest cannot be read.
 */
export async function createEngine(options: EngineOptions = {}): Promise<Engine> {
	return new Engine(await openHost(options));
}

/** Reads a workflow file as n8n exports it. Throws if it is not JSON. */
export function readWorkflow(file: string): WorkflowJson {
	return JSON.parse(readFileSync(file, 'utf8')) as WorkflowJson;
}

/** n8n's engine with one set of node types and one storage. */
export class Engine {
	/** Use `createEngine`. */
	constructor(protected readonly host: Host) {}

	/**
	 * Runs a workflow until it ends, fails, sleeps or is stopped. Rejects only if it cannot start: for example, for an
	 * unknown node type or without a start node. Later errors are in the returned run.
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

	/** Resets n8n's services and removes the contents of the engine's temporary folder. */
	async close(): Promise<void> {
		await this.host.close();
	}

	/** Returns the view of an execution. */
	protected seen(record: ExecutionRecord): Run {
		return new Run(record, this.host.binaryData);
	}

	private startData(
		json: WorkflowJson,
		{ credentials = {}, mode, input }: RunOptions,
	): IRunExecutionData {
		const workflow = openWorkflow(this.host, json, credentials);
		const node = workflow.getStartNode();
		if (!node) throw new Error('No node to start the workflow from could be found');
		const items = input ?? [{ json: {} }];
		// A manual execution runs its trigger. The editor passes other items by pinning them.
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
