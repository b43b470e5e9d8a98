import type { INode, INodeExecutionData } from 'n8n-workflow';

import { contextOf } from './context';
import type { Awake, Ended, Host } from './host';
import type { Life } from './life';
import {
	CANCELED,
	lastRun,
	stored,
	type ExecutionData,
	type ExecutionRecord,
	type StoredError,
	type Task,
} from './records';

/** Milliseconds for which n8n waits before Retry On Fail runs a node again. */
const RETRY_MS = 1_000;

/** An execution that is awake. Everything that n8n has not stored is here, and dies with the process. */
export class Running implements Awake {
	readonly stop = new AbortController();

	/** @param data what n8n has stored; it is changed */
	constructor(
		readonly n8n: Host,
		readonly life: Life,
		readonly record: ExecutionRecord,
		readonly data: ExecutionData,
	) {}

	async moment(ms = this.n8n.databaseMs): Promise<void> {
		this.n8n.arrived(this.record);
		await this.life.sleep(ms);
	}

	async run(): Promise<Ended> {
		this.n8n.awake.set(this.record.id, this);
		const error = await this.runNodes();
		const { status, output } = await this.store(error);
		this.n8n.awake.delete(this.record.id);
		if (error && status !== 'canceled') throw Object.assign(new Error(error.message), error);
		return { status, output };
	}

	/** Runs one node after the other. Returns the error that ended it. */
	private async runNodes(): Promise<StoredError | null> {
		const { executionData, resultData } = this.data;
		const stack = executionData.nodeExecutionStack;
		this.wakeUp();
		for (let task = stack.shift(); task && !this.stop.signal.aborted; task = stack.shift()) {
			const { node } = task;
			// n8n has woken it with the output of another type.
			if (!task.data.main) return stored(new Error('It seems to be in an endless loop'));
			task.data = { main: task.data.main.map(paired) };
			this.record.events.set(node.name, 'started');
			await this.moment(0);
			const runs = (resultData.runData[node.name] ??= []);
			const ran = await this.tryNode(task, runs.length);
			if (this.stop.signal.aborted) return null;
			resultData.lastNodeExecuted = node.name;
			if (ran.error && !continuesOnError(node)) {
				runs.push({ data: {}, error: ran.error });
				stack.unshift(task);
				return ran.error;
			}
			const output = ran.error ? [task.data.main[0]] : ran.output;
			// As n8n does for `rewireOutputLogTo`.
			runs.push({ data: { [node.rewireOutputLogTo ?? 'main']: output }, error: ran.error });
			this.record.events.set(node.name, 'finished');
			await this.moment(0);
			if (this.data.waitTill) {
				stack.unshift(task);
				return null;
			}
			stack.unshift(...this.nextTasks(node, output));
		}
		return null;
	}

	/** As n8n does when it wakes an execution: the node at which it slept does not run again. */
	private wakeUp(): void {
		const { data } = this;
		if (!data.waitTill) return;
		delete data.waitTill;
		const [task] = data.executionData.nodeExecutionStack;
		if (!task.metadata?.resumeError) task.node.disabled = true;
		data.resultData.runData[data.resultData.lastNodeExecuted ?? '']?.pop();
	}

	private async tryNode(task: Task, runIndex: number) {
		const { retryOnFail } = task.node;
		const tries = retryOnFail && !task.metadata?.resumeError ? 2 : 1;
		for (let count = 1; ; count++) {
			try {
				const output = await this.runNode(task, runIndex);
				const failed = Boolean(output[0]?.[0]?.json.error);
				if (!failed || count >= tries || task.node.disabled) return { output };
			} catch (error) {
				if (count >= tries) return { output: [], error: stored(error) };
			}
			await this.life.sleep(RETRY_MS);
		}
	}

	private async runNode(task: Task, runIndex: number): Promise<INodeExecutionData[][]> {
		const { node, metadata, data } = task;
		if (metadata?.resumeError) {
			const { resumeError } = metadata;
			if (!continuesOnError(node)) throw Object.assign(new Error(resumeError.message), resumeError);
			return [[{ json: { error: resumeError.message }, pairedItem: { item: 0 } }]];
		}
		if (node.disabled || node.type.endsWith('Trigger')) return [data.main[0]];
		const context = contextOf(this, task, runIndex);
		return await this.life.survive(this.n8n.execute(context, node));
	}

	private nextTasks(node: INode, output: INodeExecutionData[][]): Task[] {
		const { nodes, connections } = this.record.workflow;
		const targets = connections[node.name]?.main?.[0] ?? [];
		const [items = []] = output;
		if (items.length === 0) return [];
		return targets.map((target) => ({
			node: this.n8n.prepared(nodes.find(({ name }) => name === target.node) as INode),
			data: { main: [items] },
			source: null,
		}));
	}

	/** Stores how the execution ended, or that it sleeps. Without that, it has left no trace. */
	private async store(error: StoredError | null): Promise<Ended> {
		const { record, data, stop } = this;
		const output = lastRun(data)?.data.main ?? [null];
		const waits = data.waitTill !== undefined;
		const status = error ? 'error' : waits ? 'waiting' : 'success';
		if (stop.signal.aborted) {
			// A worker overwrites what n8n has stored of the stop, and stores no error.
			if (this.n8n.mode === 'queue') record.data = JSON.stringify(data);
			else data.resultData.error = CANCELED;
			return { status: 'canceled', output };
		}
		if (error) data.resultData.error = error;
		// n8n writes its event log first.
		if (!waits) record.hasEndEvent = true;
		await this.moment();
		if (record.status === 'canceled') return { status: 'canceled', output };
		const { saveDataSuccessExecution: onSuccess, saveDataErrorExecution: onError } =
			record.workflow.settings ?? {};
		// The proof reads the executions of the user.
		const isKept = waits || record.caller === null || (error ? onError : onSuccess) !== 'none';
		if (!waits && record.data) this.n8n.unread.add(record.id);
		if (!isKept) this.n8n.remove(record);
		else {
			record.status = status;
			record.waitTill = waits ? new Date(data.waitTill as Date).getTime() : null;
			const [task] = data.executionData.nodeExecutionStack;
			record.waitsFor = waits ? (task.metadata?.waitingChildExecutionIds ?? []) : [];
			record.data = JSON.stringify(data);
		}
		return { status, output };
	}
}

function continuesOnError({ onError, continueOnFail }: INode): boolean {
	return continueOnFail === true || (onError !== undefined && onError !== 'stopWorkflow');
}

/** n8n pairs the input items of a node with themselves, by their positions. */
function paired(items: INodeExecutionData[]): INodeExecutionData[] {
	return items.map((item, index) => ({ ...item, pairedItem: { item: index } }));
}
