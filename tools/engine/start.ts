import type { IRunExecutionData, WorkflowExecuteMode } from 'n8n-workflow';
import type { CredentialsByType } from './credentials';
import type { Host } from './host';
import type { ExecutionRecord, WorkflowJson } from './run';

/** The user's controls for a running execution. */
export interface Control {
	executionId: string;
	/** n8n's Stop button. */
	cancel: () => void;
}

/** Options for stopping an execution from outside. */
export interface Stopping {
	/** Stops the execution when it aborts, like the user's Stop. */
	signal?: AbortSignal;
	/** Called once the execution has started. */
	onReady?: (control: Control) => void;
	/** The timeout from the workflow's settings, but in milliseconds. */
	timeoutMs?: number;
}

/** Everything that an execution needs to start or resume. */
export interface Start extends Stopping {
	id: string;
	workflow: WorkflowJson;
	mode: WorkflowExecuteMode;
	credentials: CredentialsByType;
	data: IRunExecutionData;
	retryOf?: string;
	/** Set when a sleeping execution resumes. n8n keeps its id. */
	isResumed?: boolean;
	/** For sub-workflows: the mode of the top-level execution. */
	rootMode?: WorkflowExecuteMode;
}

/** Runs an execution until it ends, sleeps or is stopped. */
export type Execute = (host: Host, start: Start) => Promise<ExecutionRecord>;
