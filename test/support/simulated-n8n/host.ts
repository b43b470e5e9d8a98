import type {
	ExecutionStatus,
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	IWorkflowBase,
} from 'n8n-workflow';

import type { FakeService } from '../fake-service';
import type { VirtualTime } from '../virtual-time';
import type { Life } from './life';
import type { ExecutionData, ExecutionRecord, Parent } from './records';

/** How an execution ended, or that it sleeps, and the output of its last node. */
export interface Ended {
	status: ExecutionStatus;
	output: Array<INodeExecutionData[] | null>;
}

/** An execution that is awake. */
export interface Awake {
	readonly n8n: Host;
	readonly life: Life;
	readonly record: ExecutionRecord;
	readonly data: ExecutionData;
	/** The user's stop. */
	readonly stop: AbortController;
	/** A moment at which the process can be killed, such as an access to the database. */
	moment(ms?: number): Promise<void>;
	/**
	 * Runs the execution until it ends or sleeps, and stores it.
	 *
	 * @throws its error, as n8n does for a sub-workflow
	 */
	run(): Promise<Ended>;
}

/** What the parts of the simulated n8n need of each other. */
export interface Host {
	readonly records: Map<string, ExecutionRecord>;
	/** The executions that run, by id. */
	readonly awake: Map<string, Awake>;
	/** Executions that slept and have ended, and whose result nobody has yet. */
	readonly unread: Set<string>;
	/** Warnings and errors in n8n's log. */
	readonly log: string[];
	readonly mode: 'regular' | 'queue';
	/** The process that runs executions. */
	readonly life: Life;
	readonly time: VirtualTime;
	readonly service: FakeService;
	/** How long an access to the database takes, in milliseconds. */
	readonly databaseMs: number;
	/** An execution that was not deleted. */
	find(id: string): ExecutionRecord | undefined;
	/** Deletes an execution that n8n does not keep. */
	remove(record: ExecutionRecord): void;
	/** An execution comes to a moment at which it can be killed. */
	arrived(record: ExecutionRecord): void;
	/** The node as n8n runs it: with the defaults of its parameters. */
	prepared(node: INode): INode;
	/** Runs a node. */
	execute(context: IExecuteFunctions, node: INode): Promise<INodeExecutionData[][]>;
	/** Creates an execution. */
	begin(
		code: IWorkflowBase,
		items: INodeExecutionData[],
		caller: Awake | null,
		parent?: Parent,
	): Awake;
}
