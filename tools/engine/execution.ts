import { ExecutionLifecycleHooks, ExternalSecretsProxy, WorkflowExecute } from 'n8n-core';
import { Workflow } from 'n8n-workflow';
import type {
	IRunExecutionData,
	IWorkflowBase,
	IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { Container, throughDatabase } from './core';
import { GivenCredentials } from './credentials';
import type { CredentialsByType } from './credentials';
import type { Host } from './host';
import type { ExecutionRecord, WorkflowJson } from './run';
import type { Start } from './start';
import { executeWorkflow } from './sub-workflow';

/** Runs an execution until it ends, sleeps or is stopped, and keeps the data that n8n would save. */
export async function execute(host: Host, start: Start): Promise<ExecutionRecord> {
	const firstLine = host.log.lines.length;
	const { state, savedAtStop } = await runToEnd(host, start);
	const { id, workflow, mode, credentials, retryOf } = start;
	const logs = host.log.lines.slice(firstLine);
	const record = { id, workflow, mode, credentials, retryOf, state, savedAtStop, logs };
	host.records.set(id, record);
	return record;
}

/**
 * Creates n8n's workflow object from a workflow file. Nodes without a selected credential get the given one, as if the
 * user had selected it after importing the file.
 */
export function openWorkflow(
	host: Host,
	json: WorkflowJson,
	credentials: CredentialsByType,
): Workflow {
	// n8n writes default parameters into the nodes it is given.
	const copy = structuredClone(json);
	for (const node of copy.nodes) {
		const { description } = host.types.getByNameAndVersion(node.type, node.typeVersion);
		for (const { name } of description.credentials ?? []) {
			if (!(name in credentials) || node.credentials?.[name]) continue;
			node.credentials = { ...node.credentials, [name]: { id: name, name } };
		}
	}
	return new Workflow({
		id: copy.id ?? 'workflow',
		name: copy.name,
		nodes: copy.nodes,
		connections: copy.connections,
		active: false,
		nodeTypes: host.types,
		staticData: copy.staticData,
		settings: { executionOrder: 'v1', ...copy.settings },
	});
}

/** Builds the additional data that n8n passes to every node. */
export function additionalData(
	host: Host,
	credentials: CredentialsByType,
	executionId?: string,
): IWorkflowExecuteAdditionalData {
	const url = host.publicUrl;
	const notHere = async () => {
		throw new Error('The engine host has no task runner (Code node)');
	};
	return {
		credentialsHelper: new GivenCredentials(host.types, credentials),
		executeWorkflow: async (info, parent, options) =>
			await executeWorkflow({ host, execute, credentials }, info, parent, options),
		getRunExecutionData: async (id) => host.records.get(id)?.state.data,
		getRuntimeCredential: async () => undefined,
		executionId,
		currentNodeExecutionIndex: 0,
		externalSecretsProxy: Container.get(ExternalSecretsProxy),
		restApiUrl: `${url}rest`,
		instanceBaseUrl: url,
		formBaseUrl: `${url}form`,
		formWaitingBaseUrl: `${url}form-waiting`,
		formTestBaseUrl: `${url}form-test`,
		webhookBaseUrl: `${url}webhook`,
		webhookWaitingBaseUrl: `${url}webhook-waiting`,
		webhookTestBaseUrl: `${url}webhook-test`,
		mcpBaseUrl: `${url}mcp`,
		mcpTestBaseUrl: `${url}mcp-test`,
		variables: {},
		logAiEvent: () => {},
		startRunnerTask: notHere,
		setExecutionStatus: () => {},
		sendDataToUI: (type, metadata) => host.log.write({ level: 'console', message: type, metadata }),
	};
}

async function runToEnd(
	host: Host,
	start: Start,
): Promise<Pick<ExecutionRecord, 'state' | 'savedAtStop'>> {
	const { id, mode, data } = start;
	const extra = additionalData(host, start.credentials, id);
	const base = start.workflow as IWorkflowBase;
	extra.hooks = new ExecutionLifecycleHooks(mode, id, base, start.retryOf);
	extra.rootExecutionMode = start.rootMode;
	if (start.isResumed) extra.restartExecutionId = id;
	if (start.timeoutMs) extra.executionTimeoutTimestamp = Date.now() + start.timeoutMs;
	const startedAt = new Date();
	let savedAtStop: IRunExecutionData | undefined;
	extra.hooks.addHandler('workflowExecuteAfter', ({ status, data }) => {
		if (status === 'canceled') savedAtStop ??= throughDatabase(data);
	});
	try {
		const execute = new WorkflowExecute(extra, mode, data);
		const workflow = openWorkflow(host, start.workflow, start.credentials);
		return { state: await stoppable(execute, workflow, start), savedAtStop };
	} catch (error) {
		// If n8n refuses to start (for example because of a missing parameter), that is a failed execution too.
		data.resultData.error = error as NonNullable<typeof data.resultData.error>;
		const end = { startedAt, stoppedAt: new Date(), finished: false };
		return { state: { ...end, data, mode, status: 'error', storedAt: 'db' } };
	}
}

async function stoppable(execute: WorkflowExecute, workflow: Workflow, start: Start) {
	const running = execute.processRunExecutionData(workflow);
	const cancel = () => running.cancel();
	const timeOut = () => {
		execute.timedOut = true;
		cancel();
	};
	const timer = start.timeoutMs ? setTimeout(timeOut, start.timeoutMs) : undefined;
	start.signal?.addEventListener('abort', cancel);
	start.onReady?.({ executionId: start.id, cancel });
	if (start.signal?.aborted) cancel();
	try {
		return await running;
	} finally {
		clearTimeout(timer);
		start.signal?.removeEventListener('abort', cancel);
	}
}
