import type {
	ExecuteWorkflowData,
	ExecuteWorkflowOptions,
	IDataObject,
	IExecuteFunctions,
	IExecuteWorkflowInfo,
	IHttpRequestOptions,
	INodeExecutionData,
} from 'n8n-workflow';

import { evaluated, textOf, type Scope } from './expressions';
import type { Awake, Host } from './host';
import { dataOf, WAIT_FOR_CHILD, type Parent, type Task } from './records';

/** The base URL of the service in the credential. */
const BASE_URL = 'https://api.example.com';

/** The context that n8n gives a node, as far as the nodes of this package and the Data Table node use it. */
export function contextOf(running: Awake, task: Task, runIndex: number): IExecuteFunctions {
	return new Context(running, task, runIndex) as unknown as IExecuteFunctions;
}

/** A class, and not an object of functions: there are hundreds of contexts in each schedule. */
class Context {
	readonly helpers: Helpers;
	readonly logger: Logger;
	private readonly items: INodeExecutionData[];

	constructor(
		private readonly running: Awake,
		private readonly task: Task,
		private readonly runIndex: number,
	) {
		const [all = []] = task.data.main;
		this.items = task.node.executeOnce ? all.slice(0, 1) : all;
		this.helpers = helpersOf(running);
		this.logger = loggerOf(running.n8n);
	}

	getNode() {
		return this.task.node;
	}

	getInputData() {
		return this.items;
	}

	getExecutionId() {
		return this.running.record.id;
	}

	getMode() {
		return this.running.record.caller === null ? 'webhook' : 'integrated';
	}

	getWorkflow() {
		const { id, name } = this.running.record.workflow;
		return { id, name, active: false };
	}

	getWorkflowSettings() {
		return this.running.record.workflow.settings ?? {};
	}

	getWorkflowDataProxy() {
		return { $runIndex: this.runIndex };
	}

	getContext(type: 'flow' | 'node'): IDataObject {
		const { contextData } = this.running.data.executionData;
		return (contextData[type === 'flow' ? type : `node:${this.task.node.name}`] ??= {});
	}

	getExecutionCancelSignal() {
		return this.running.stop.signal;
	}

	async getExecutionDataById(id: string) {
		await this.running.moment();
		const found = this.running.n8n.find(id);
		return found && dataOf(found);
	}

	async getCredentials() {
		return await Promise.resolve({ baseUrl: BASE_URL, apiKey: 'a key' });
	}

	getNodeParameter(name: string, itemIndex: number, fallback?: unknown): unknown {
		const written = at(this.task.node.parameters, name);
		if (written !== undefined) return evaluated(written, this.scope(itemIndex));
		if (fallback === undefined) throw new Error(`Could not get parameter "${name}"`);
		return fallback;
	}

	evaluateExpression(expression: string, itemIndex = 0): unknown {
		return textOf(expression, this.scope(itemIndex));
	}

	continueOnFail() {
		const { onError } = this.task.node;
		return onError !== undefined && onError !== 'stopWorkflow';
	}

	isToolExecution() {
		return false;
	}

	addExecutionHints() {}

	setMetadata(metadata: IDataObject) {
		this.task.metadata = { ...this.task.metadata, ...metadata };
	}

	async putExecutionToWait(till: Date) {
		await Promise.resolve();
		this.running.data.waitTill = till;
	}

	async executeWorkflow(
		{ code }: IExecuteWorkflowInfo,
		items: INodeExecutionData[],
		_: unknown,
		{ parentExecution, doNotWaitToFinish }: ExecuteWorkflowOptions,
	): Promise<ExecuteWorkflowData> {
		const { running, task } = this;
		await running.moment();
		if (!code) throw new Error('No helper workflow');
		const child = running.n8n.begin(code, items, running, parentExecution as Parent | undefined);
		const executionId = child.record.id;
		const ended = child.run();
		if (doNotWaitToFinish) {
			ended.catch(() => undefined);
			return { executionId, data: [null] };
		}
		const { status, output } = await running.life.survive(ended);
		running.n8n.unread.delete(executionId);
		if (status !== 'waiting') return { executionId, data: output };
		const ids = task.metadata?.waitingChildExecutionIds ?? [];
		this.setMetadata({ waitingChildExecutionIds: [...ids, executionId] });
		running.data.waitTill = new Date(WAIT_FOR_CHILD);
		return { executionId, data: output, waitTill: running.data.waitTill };
	}

	private scope(itemIndex: number): Scope {
		return { item: this.items[itemIndex], runData: this.running.data.resultData.runData };
	}
}

type Helpers = ReturnType<typeof makeHelpers>;
type Logger = ReturnType<typeof makeLogger>;

const helpers = new WeakMap<Awake, Helpers>();
const loggers = new WeakMap<Host, Logger>();

function helpersOf(running: Awake): Helpers {
	const known = helpers.get(running) ?? makeHelpers(running);
	helpers.set(running, known);
	return known;
}

function loggerOf(n8n: Host): Logger {
	const known = loggers.get(n8n) ?? makeLogger(n8n);
	loggers.set(n8n, known);
	return known;
}

function makeHelpers(running: Awake) {
	const { life, n8n } = running;
	return {
		/** A response that arrives after the death of the process is lost. */
		httpRequestWithAuthentication: async (_: string, options: IHttpRequestOptions) => {
			const { method, url, qs, body, headers } = options;
			await running.moment(0);
			const request = {
				method: method as 'GET' | 'POST',
				path: url.slice(BASE_URL.length),
				query: qs as Record<string, string>,
				body: body as object,
				headers: headers as Record<string, string>,
			};
			const response = await life.survive(n8n.service.send(request));
			await running.moment(0);
			const { status, body: content, headers: received = {} } = response;
			return { statusCode: status, headers: received, body: content };
		},
		httpRequest: async ({ url }: IHttpRequestOptions) => {
			const { status: statusCode, oneByte } = await life.survive(n8n.service.probe(url));
			const headers = oneByte ? { 'content-range': 'bytes 0-0/9' } : { 'content-length': '9' };
			return { statusCode, headers, body: emptyBody };
		},
	};
}

const emptyBody = { on: () => undefined, destroy: () => undefined };
const silent = () => undefined;

function makeLogger(n8n: Host) {
	const warn = (message: string) => n8n.log.push(message);
	return { debug: silent, info: silent, warn, error: warn };
}

/** The value at a path such as `filters.conditions`. */
function at(values: object, path: string): unknown {
	if (!path.includes('.')) return (values as IDataObject)[path];
	return path
		.split('.')
		.reduce<unknown>((value, name) => (value as IDataObject | undefined)?.[name], values);
}
