import type { IRunExecutionData, WorkflowExecuteMode } from 'n8n-workflow';
import type { CredentialsByType } from './credentials';
import type { Host } from './host';
import type { ExecutionRecord, WorkflowJson } from './run';

/** What the user can do with an execution while it runs. */
export interface Control {
	executionId: string;
	/** n8n's Stop button. */
	cancel: () => void;
}

/** How an execution can be ended from outside. */
export interface Stopping {
	/** Stops the execution when it is aborted, as the user's Stop does. */
	signal?: AbortSignal;
	/** Called once the execution has begun. */
	onReady?: (control: Control) => void;
	/** The timeout of the workflow's settings, here in milliseconds. */
	timeoutMs?: number;
}

/** Everything an execution needs to begin, or to go on. */
export interface Start extends Stopping {
	id: string;
	workflow: WorkflowJson;
	mode: WorkflowExecuteMode;
	credentials: CredentialsByType;
	data: IRunExecutionData;
	retryOf?: string;
	/** Set when a sleeping execution is woken: n8n keeps its id. */
	isResumed?: boolean;
	/** The mode of the execution at the top, for sub-workflows. */
	rootMode?: WorkflowExecuteMode;
}

/** Runs an execution to its end, to its next sleep or to its stop. */
export type Execute = (host: Host, start: Start) => Promise<ExecutionRecord>;
