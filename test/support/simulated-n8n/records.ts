import type {
	ExecutionStatus,
	IDataObject,
	INode,
	INodeExecutionData,
	IWorkflowBase,
} from 'n8n-workflow';

/** What n8n stores of an execution, as far as nodes and their sleeps depend on it. */

/** A node that is to run, with its input. */
export interface Task {
	node: INode;
	data: { main: INodeExecutionData[][] };
	metadata?: TaskMetadata;
	source: null;
}

interface TaskMetadata extends IDataObject {
	waitingChildExecutionIds?: string[];
	resumeError?: StoredError;
}

/** An error as n8n stores it. */
export interface StoredError extends IDataObject {
	message: string;
	name: string;
}

/** A run of a node. */
export interface Ran {
	data: Record<string, INodeExecutionData[][]>;
	error?: StoredError;
}

export interface ExecutionData {
	executionData: { contextData: Record<string, IDataObject>; nodeExecutionStack: Task[] };
	resultData: { runData: Record<string, Ran[]>; lastNodeExecuted?: string; error?: StoredError };
	waitTill?: Date | string;
	parentExecution?: Parent;
}

/** The execution that waits for a sub-workflow. */
export interface Parent {
	executionId: string;
	shouldResume?: boolean;
}

/** An execution in n8n's database, and its lines in n8n's event log. */
export interface ExecutionRecord {
	readonly id: string;
	readonly workflow: IWorkflowBase;
	/** The execution that started it, also one that does not wait for it. */
	readonly caller: string | null;
	/** 0 for an execution of the user, and one more for each helper workflow that sleeps in between. */
	readonly depth: number;
	status: ExecutionStatus;
	/** Milliseconds since the Unix epoch. */
	waitTill: number | null;
	/** The executions that it waits for, as its data say. */
	waitsFor: string[];
	/** JSON of `ExecutionData`. */
	data: string;
	isDeleted: boolean;
	/** By node: whether n8n has logged that it started, and that it finished. */
	readonly events: Map<string, 'started' | 'finished'>;
	/** True once n8n has logged the end of the execution. */
	hasEndEvent: boolean;
}

/** n8n's constant for an execution that waits for a sub-workflow. */
export const WAIT_FOR_CHILD = Date.UTC(2999, 11, 31);

/** Parses what was stored. */
export function dataOf({ data }: ExecutionRecord): ExecutionData {
	return JSON.parse(data) as ExecutionData;
}

/** The last run of the node that ran last. */
export function lastRun({ resultData }: ExecutionData): Ran | undefined {
	const { runData, lastNodeExecuted } = resultData;
	return lastNodeExecuted === undefined ? undefined : runData[lastNodeExecuted]?.at(-1);
}

/** An error as n8n stores it: its fields, without its class. */
export function stored(error: unknown): StoredError {
	const { message, name, description, httpCode, context } = error as Error & StoredError;
	return { message, name, description, httpCode, context };
}

/** The error of an execution that the user has stopped. */
export const CANCELED: StoredError = {
	message: 'The execution was cancelled manually',
	name: 'ManualExecutionCancelledError',
};

const FINAL = new Set<ExecutionStatus>(['success', 'error', 'crashed', 'canceled']);

export function isFinal({ status }: ExecutionRecord): boolean {
	return FINAL.has(status);
}
