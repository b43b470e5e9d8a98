import { setTimeout as delay } from 'node:timers/promises';
import type {
	ExecutionStatus,
	IBinaryData,
	IDataObject,
	INodeExecutionData,
	IRunExecutionData,
	ITaskData,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import { parse } from '../flatted';
import type { Rest, Workflow } from './rest';

/** An execution as n8n stores it. */
export interface Execution {
	id: string;
	status: ExecutionStatus;
	mode: WorkflowExecuteMode;
	retryOf: string | null;
	workflowId: string;
	startedAt: string;
	/** Null while it is running. */
	stoppedAt: string | null;
	data: IRunExecutionData;
	/** The workflow as it ran. A helper workflow has the id of the workflow it helps, so only this identifies it. */
	workflowData: Pick<Workflow, 'name' | 'nodes'>;
}

const pollInterval = 250;
/** Only ends a wait that would never end. */
const longestExecution = 20 * 60_000;
/** How often an execution is read whose data n8n has not stored yet. */
const MOST_READS = 240;
const underWay: ExecutionStatus[] = ['new', 'running', 'waiting'];

/** Starts, monitors and reads the executions of one n8n. */
export class Executions {
	constructor(private readonly rest: Rest) {}

	/**
	 * Runs a workflow like the editor's button does, and returns the execution's id.
	 *
	 * @param json output of the trigger, for example a message of the editor's chat. A manual trigger needs none.
	 */
	async run(workflow: Workflow, trigger: string, json?: IDataObject): Promise<string> {
		const data: ITaskData | undefined = json && {
			startTime: Date.now(),
			executionIndex: 0,
			executionTime: 0,
			executionStatus: 'success',
			source: [],
			data: { main: [[{ json }]] },
		};
		const { executionId } = await this.rest.send<{ executionId: string }>(
			'POST',
			`/workflows/${workflow.id}/run`,
			{ workflowData: workflow, triggerToStartFrom: { name: trigger, data } },
		);
		return executionId;
	}

	/**
	 * Runs n8n's "Retry with original workflow", and returns the id of the new execution as soon as it exists.
	 *
	 * Does not wait for n8n's response: it comes after the new execution has ended, with 500 if n8n cannot serialize the
	 * data as JSON. In queue mode it never comes if a worker was so fast that n8n did not see the job end.
	 */
	async retry(id: string): Promise<string> {
		const { workflowId } = await this.read(id);
		const before = await this.idsOf(workflowId);
		let response: { trouble?: unknown } | undefined;
		void this.rest.send('POST', `/executions/${id}/retry`, { loadWorkflow: false }).then(
			() => (response = {}),
			(trouble: unknown) => (response = { trouble }),
		);
		for (;;) {
			const responded = response;
			for (const other of await this.idsOf(workflowId)) {
				if (before.includes(other)) continue;
				// The workflow may also have been started by something else in the meantime. A helper workflow of a step has its
				// id, too, and n8n deletes its execution as soon as it has ended.
				if ((await this.find(other))?.retryOf === id) return other;
			}
			if (responded) throw responded.trouble ?? new Error(`Execution ${id} was not retried.`);
			await delay(pollInterval);
		}
	}

	/** Stops an execution, like n8n's Stop button. */
	async stop(id: string): Promise<void> {
		await this.rest.send('POST', `/executions/${id}/stop`);
	}

	/** Returns the ids of a workflow's executions. */
	async idsOf(workflowId: string): Promise<string[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		const { results } = await this.rest.send<{ results: Array<{ id: string }> }>(
			'GET',
			`/executions?filter=${filter}`,
		);
		return results.map(({ id }) => id);
	}

	/** Returns an execution. n8n knows an execution a moment before it has stored its data, and then returns nothing. */
	async read(id: string): Promise<Execution> {
		for (let tries = 1; ; tries++) {
			const found = await this.find(id);
			if (found) return found;
			if (tries === MOST_READS) throw new Error(`n8n has no data of execution ${id}`);
			await delay(pollInterval);
		}
	}

	/** Returns an execution if n8n has its data now. */
	private async find(id: string): Promise<Execution | undefined> {
		type Stored = Execution & { data: string };
		const found = await this.rest.send<Stored | undefined>('GET', `/executions/${id}`);
		return found && { ...found, data: parse(found.data) as IRunExecutionData };
	}

	/** Waits until an execution is suspended in the database. */
	async asleep(id: string): Promise<void> {
		const deadline = Date.now() + longestExecution;
		for (;;) {
			const { status } = await this.read(id);
			if (status === 'waiting') return;
			if (!underWay.includes(status)) throw new Error(`Execution ${id} has ended: ${status}.`);
			if (Date.now() > deadline) throw new Error(`Execution ${id} has not fallen asleep.`);
			await delay(1000);
		}
	}

	/** Polls until an execution has ended with any status; less often the longer it takes, as n8n sends all of its data. */
	async ended(id: string, timeoutMs = longestExecution): Promise<Execution> {
		const started = Date.now();
		for (;;) {
			const execution = await this.read(id);
			// On SQLite n8n 1 stores the status of an execution before its data.
			if (!underWay.includes(execution.status) && execution.data) return execution;
			const elapsed = Date.now() - started;
			if (elapsed > timeoutMs) throw new Error(`Execution ${id} is still ${execution.status}.`);
			await delay(Math.max(pollInterval, Math.min(elapsed / 20, 15_000)));
		}
	}

	/** Downloads the bytes of a binary field like a browser. Without a storage, n8n keeps them in the item. */
	async download({ id, data, fileName, mimeType }: IBinaryData): Promise<Buffer> {
		if (id === undefined) return Buffer.from(data, 'base64');
		const query = new URLSearchParams({ id, action: 'download' });
		if (fileName) query.set('fileName', fileName);
		query.set('mimeType', mimeType);
		return await this.rest.bytes(`/binary-data?${query.toString()}`);
	}
}

/**
 * Returns the output items of a node's last run. Throws if n8n hides them, as it does for an execution that began while its
 * database was overloaded: hidden items would look like lost ones.
 */
export function itemsOf({ data }: Execution, node: string, output = 0): INodeExecutionData[] {
	if (data.redactionInfo?.isRedacted)
		throw new Error('n8n has redacted the items of this execution');
	return data.resultData.runData[node]?.at(-1)?.data?.main[output] ?? [];
}

/** Returns the error of an execution as text; empty if it has none. */
export function errorOf({ data }: Execution): string {
	const { error } = data.resultData;
	if (!error) return '';
	const description = 'description' in error ? (error.description ?? '') : '';
	return `${error.message}\n${description}`;
}
