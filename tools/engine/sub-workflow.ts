import { createRunExecutionData } from 'n8n-workflow';
import type {
	ExecuteWorkflowData,
	ExecuteWorkflowOptions,
	IExecuteWorkflowInfo,
	INode,
	IWorkflowExecuteAdditionalData,
	ITaskData,
} from 'n8n-workflow';
import type { CredentialsByType } from './credentials';
import type { Host } from './host';
import type { ExecutionRecord, WorkflowJson } from './run';
import type { Execute } from './start';

/** The parts of the calling execution that a sub-workflow needs. */
interface Caller {
	host: Host;
	execute: Execute;
	credentials: CredentialsByType;
}

/**
 * Implements a node's `executeWorkflow`: runs a workflow given as JSON as a separate execution. Returns the output of
 * its last node, even if the execution went to sleep. Throws the sub-workflow's error if it failed.
 */
export async function executeWorkflow(
	{ host, execute, credentials }: Caller,
	info: IExecuteWorkflowInfo,
	parent: IWorkflowExecuteAdditionalData,
	options: ExecuteWorkflowOptions,
): Promise<ExecuteWorkflowData> {
	if (!info.code) throw new Error('The engine host knows sub-workflows given as code only');
	const workflow: WorkflowJson = structuredClone(info.code);
	workflow.id ??= options.parentWorkflowId;
	workflow.settings ??= options.parentWorkflowSettings;
	const { parentExecution, inputData = [{ json: {} }] } = options;
	const node = startOf(workflow);
	const stack = [
		{ node, data: { main: [inputData] }, metadata: { parentExecution }, source: null },
	];
	const data = createRunExecutionData({
		executionData: { nodeExecutionStack: stack },
		parentExecution,
	});
	const rootMode = parent.rootExecutionMode ?? options.executionMode;
	const id = host.nextId();
	const child = execute(host, { id, workflow, mode: 'integrated', credentials, data, rootMode });
	if (options.doNotWaitToFinish) return { executionId: id, data: [null] };
	return resultOf(await child);
}

/** Returns the last run of the node that ran last. */
export function lastTask({ state }: ExecutionRecord): ITaskData | undefined {
	const { lastNodeExecuted, runData } = state.data.resultData;
	return lastNodeExecuted ? runData[lastNodeExecuted]?.at(-1) : undefined;
}

function resultOf(record: ExecutionRecord): ExecuteWorkflowData {
	const { state, id } = record;
	if (!state.finished && state.status !== 'waiting') throw childError(record);
	const output = lastTask(record)?.data?.main ?? [];
	return { executionId: id, data: output, waitTill: state.waitTill };
}

/** Like n8n, recreates the error from the child's stored one, and keeps its fields. */
function childError({ state, id }: ExecutionRecord): Error {
	const { error } = state.data.resultData;
	return Object.assign(new Error(error?.message ?? 'The sub-workflow failed'), error, {
		executionId: id,
	});
}

function startOf(workflow: WorkflowJson): INode {
	const isStart = ({ type }: INode) => type.endsWith('.executeWorkflowTrigger');
	const start = workflow.nodes.find(isStart) ?? workflow.nodes.find(isManualStart);
	if (!start) throw new Error('The sub-workflow has no node to start from');
	return start;
}

function isManualStart({ type }: INode): boolean {
	return type === 'n8n-nodes-base.manualTrigger' || type === 'n8n-nodes-base.start';
}
