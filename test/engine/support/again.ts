/** An execution that is run once more: n8n's "Retry execution", and the waking of a sleeping one. */
import type { IExecuteData, IRunExecutionData } from 'n8n-workflow';
import { throughDatabase } from '../../../tools/engine/core';
import { execute, openWorkflow } from '../../../tools/engine/execution';
import type { Host } from '../../../tools/engine/host';
import type { ExecutionRecord, WorkflowJson } from '../../../tools/engine/run';
import type { Stopping } from '../../../tools/engine/start';
import { lastTask } from '../../../tools/engine/sub-workflow';

/** What can be different at a retry: n8n can take the workflow as it was saved since. */
export interface RetryOptions extends Stopping {
	workflow?: WorkflowJson;
}

/**
 * Retries a failed execution as n8n does: from its saved data without the last node's failed run, at
 * the node that failed, with what nodes keep in their context, under a new id and in mode `retry`.
 * Throws when the execution has succeeded.
 */
export async function retry(
	host: Host,
	record: ExecutionRecord,
	{ workflow, ...stopping }: RetryOptions = {},
): Promise<ExecutionRecord> {
	if (record.state.finished) throw new Error('The execution succeeded, so it cannot be retried');
	const data = throughDatabase(record.savedAtStop ?? record.state.data);
	forgetFailure(data);
	if (workflow) replaceNodes(host, data, workflow, record);
	return await execute(host, {
		...stopping,
		id: host.nextId(),
		workflow: workflow ?? record.workflow,
		credentials: record.credentials,
		mode: 'retry',
		retryOf: record.id,
		data,
	});
}

/**
 * Wakes a sleeping execution as n8n's wait tracker does: same id, same mode. One that sleeps because
 * its sub-workflow sleeps goes on only when waking that one has ended it.
 * Throws when the execution is not asleep.
 */
export async function resume(
	host: Host,
	record: ExecutionRecord,
	stopping: Stopping = {},
): Promise<ExecutionRecord> {
	if (record.state.status !== 'waiting') throw new Error('The execution is not waiting');
	const data = throughDatabase(record.state.data);
	const [task] = data.executionData?.nodeExecutionStack ?? [];
	const childId = task?.metadata?.waitingChildExecutionIds?.at(-1);
	if (childId && !(await takeChildResult(host, childId, task, stopping))) return record;
	const { id, workflow, mode, credentials, retryOf } = record;
	const start = { ...stopping, id, workflow, mode, credentials, retryOf, data, isResumed: true };
	return await execute(host, start);
}

function forgetFailure({ resultData }: IRunExecutionData): void {
	const { lastNodeExecuted, runData } = resultData;
	if (!lastNodeExecuted) return;
	delete resultData.error;
	const runs = runData[lastNodeExecuted];
	if (runs?.at(-1)?.error !== undefined) runs.pop();
}

function replaceNodes(
	host: Host,
	data: IRunExecutionData,
	json: WorkflowJson,
	{ credentials }: ExecutionRecord,
): void {
	const workflow = openWorkflow(host, json, credentials);
	for (const task of data.executionData?.nodeExecutionStack ?? []) {
		const node = workflow.getNode(task.node.name);
		if (!node) throw new Error(`The workflow has no node "${task.node.name}" to retry`);
		task.node = node;
	}
}

/** Wakes the child; once it has ended, its output or its error takes the place of the node's input. */
async function takeChildResult(
	host: Host,
	childId: string,
	task: IExecuteData,
	stopping: Stopping,
): Promise<boolean> {
	const known = host.records.get(childId);
	if (!known) throw new Error(`The sub-workflow's execution ${childId} is unknown`);
	const child = known.state.status === 'waiting' ? await resume(host, known, stopping) : known;
	if (child.state.status === 'waiting') return false;
	const { error } = child.state.data.resultData;
	if (error) task.metadata = { ...task.metadata, resumeError: error };
	else task.data = lastTask(child)?.data ?? task.data;
	return true;
}
