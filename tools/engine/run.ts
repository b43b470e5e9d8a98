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

/** A workflow as n8n exports it. Name, id and settings are optional. */
export type WorkflowJson = Pick<IWorkflowBase, 'nodes' | 'connections'> & Partial<IWorkflowBase>;

/** The data of an execution in n8n's database, and the options it was started with. */
export interface ExecutionRecord {
	id: string;
	workflow: WorkflowJson;
	mode: WorkflowExecuteMode;
	credentials: CredentialsByType;
	retryOf?: string;
	state: IRun;
	/** The data that n8n saved when the execution was stopped. Later changes by the node are never saved. */
	savedAtStop?: IRunExecutionData;
	logs: LogLine[];
}

/** A view of one finished, failed, stopped or sleeping execution. */
export class Run {
	/** Created by the engine. Reading never changes the record. */
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

	/** The error of the execution as a whole, if it failed or was stopped. */
	get error(): ExecutionError | undefined {
		return this.record.state.data.resultData.error;
	}

	/** Every run of every node, by node name. */
	get runData(): IRunData {
		return this.record.state.data.resultData.runData;
	}

	/** The data that nodes stored with `getContext`, by n8n's keys (`node:<name>`, `flow`). */
	get contextData(): IExecuteContextData {
		return this.record.state.data.executionData?.contextData ?? {};
	}

	/** The log lines of n8n and the nodes during this execution. */
	get logs(): LogLine[] {
		return this.record.logs;
	}

	/** The time at which a waiting execution resumes. */
	get waitTill(): Date | undefined {
		return this.record.state.waitTill ?? undefined;
	}

	/** Returns the items that a node's last run sent to an output. Empty if it did not run. */
	output(nodeName: string, outputIndex = 0): INodeExecutionData[] {
		return this.lastRun(nodeName)?.data?.main?.[outputIndex] ?? [];
	}

	/** Returns the error of a node's last run, even if the workflow continued. */
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

	/** Returns the bytes that n8n serves at a signed URL. Throws if the URL is not valid (any more). */
	async signedFile(url: string): Promise<Buffer> {
		const token = new URL(url).searchParams.get('token') ?? '';
		const id = this.storage.validateSignedToken(token);
		return await this.storage.getAsBuffer({ id, data: '', mimeType: '' });
	}

	/** Returns the bytes as a stream. Throws in memory mode, because it needs n8n's file storage. */
	async binaryStream(field: IBinaryData): Promise<Readable> {
		return await this.storage.getAsStream(storedId(field));
	}

	/** Returns the path of the file in which n8n stores the bytes. Throws in memory mode. */
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
