import type { Readable } from 'node:stream';
import type { BinaryDataService } from 'n8n-core';
import type {
	ExecutionError,
	ExecutionStatus,
	IBinaryData,
	IExecuteContextData,
	INodeExecutionData,
	IRun,
	IRunData,
	IRunExecutionData,
	IWorkflowBase,
	NodeExecutionHint,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import type { CredentialsByType } from './credentials';
import type { LogLine } from './logging';

/** A workflow as n8n exports it; name, id and settings may be left out. */
export type WorkflowJson = Pick<IWorkflowBase, 'nodes' | 'connections'> & Partial<IWorkflowBase>;

/** What n8n's database holds of an execution, and what was given to start it. */
export interface ExecutionRecord {
	id: string;
	workflow: WorkflowJson;
	mode: WorkflowExecuteMode;
	credentials: CredentialsByType;
	retryOf?: string;
	state: IRun;
	/** What n8n saved at the moment of a Stop: what the node does afterwards is never saved. */
	savedAtStop?: IRunExecutionData;
	logs: LogLine[];
}

/** One finished, failed, stopped or sleeping execution, to be looked at. */
export class Run {
	/** Made by the engine; a record is never changed by looking at it. */
	constructor(
		readonly record: ExecutionRecord,
		private readonly storage: BinaryDataService,
	) {}

	get executionId(): string {
		return this.record.id;
	}

	get status(): ExecutionStatus {
		return this.record.state.status;
	}

	/** Why the execution as a whole ended in an error or was stopped. */
	get error(): ExecutionError | undefined {
		return this.record.state.data.resultData.error;
	}

	/** Every run of every node, by node name. */
	get runData(): IRunData {
		return this.record.state.data.resultData.runData;
	}

	/** What nodes have kept with `getContext`, by n8n's keys (`node:<name>`, `flow`). */
	get contextData(): IExecuteContextData {
		return this.record.state.data.executionData?.contextData ?? {};
	}

	/** What n8n and the nodes wrote while this execution ran. */
	get logs(): LogLine[] {
		return this.record.logs;
	}

	/** When a waiting execution is to be woken. */
	get waitTill(): Date | undefined {
		return this.record.state.waitTill ?? undefined;
	}

	/** Returns the items a node's last run put on an output; none when it did not run. */
	output(nodeName: string, outputIndex = 0): INodeExecutionData[] {
		return this.lastRun(nodeName)?.data?.main?.[outputIndex] ?? [];
	}

	/** Returns the error of a node's last run, also when the workflow went on. */
	nodeError(nodeName: string): ExecutionError | undefined {
		return this.lastRun(nodeName)?.error;
	}

	/** Returns the hints that a node's last run shows to the user. */
	hints(nodeName: string): NodeExecutionHint[] {
		return this.lastRun(nodeName)?.hints ?? [];
	}

	/** Returns the bytes behind an item's binary field. */
	async binary(field: IBinaryData): Promise<Buffer> {
		return await this.storage.getAsBuffer(field);
	}

	/** Returns the bytes as a stream; only where n8n stores them in files. Throws in memory mode. */
	async binaryStream(field: IBinaryData): Promise<Readable> {
		return await this.storage.getAsStream(storedId(field));
	}

	/** Returns the path of n8n's own file of the bytes. Throws in memory mode. */
	binaryPath(field: IBinaryData): string {
		return this.storage.getPath(storedId(field));
	}

	private lastRun(nodeName: string) {
		return this.runData[nodeName]?.at(-1);
	}
}

function storedId({ id }: IBinaryData): string {
	if (!id) throw new Error('This binary field holds its bytes itself: nothing is stored for it');
	return id;
}
