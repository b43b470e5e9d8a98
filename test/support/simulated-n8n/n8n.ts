import type {
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	INodeParameters,
	INodeType,
	IWorkflowBase,
} from 'n8n-workflow';
import { NodeHelpers } from 'n8n-workflow';

import type { Random } from '../../../sandbox/basics/random';
import type { DataTables } from '../../engine/support/data-table';
import type { FakeService } from '../fake-service';
import type { VirtualTime } from '../virtual-time';
import type { Awake, Host } from './host';
import { Life } from './life';
import { recover } from './recovery';
import { CANCELED, dataOf, type ExecutionData, type ExecutionRecord, type Parent } from './records';
import { Running } from './running';
import { WaitTracker } from './wait-tracker';

/** How n8n runs, and how fast it is. */
interface N8nOptions {
	time: VirtualTime;
	random: Random;
	service: FakeService;
	tables: DataTables;
	/** The node types of this package, by name. */
	types: Record<string, INodeType>;
	/** `regular`: one process. `queue`: a worker runs all executions, and only the worker is killed. */
	mode: 'regular' | 'queue';
	/** How long an access to the database takes, in milliseconds. */
	databaseMs: number;
	/** Called before each use of a data table, and after it. It may throw. */
	aroundTable: (operation: string, when: 'before' | 'after') => Promise<void>;
	/** Called whenever a process has started that loads the package. */
	loaded: (life: Life) => void;
}

/** How long n8n is down after it was killed, and how slowly it starts. All values are in milliseconds. */
export interface Restart {
	downMs: number;
	/** From its start until its data tables can be used. */
	tablesMs: number;
	/** From then until it looks for executions that have crashed. */
	recoveryMs: number;
	/** For each of them, from when it reads it until it writes it. */
	amendMs: number;
}

/** How long n8n takes to give up an execution whose worker was killed. */
const STALLED_MS = { least: 34_000, most: 115_000 };

const DATA_TABLE = 'n8n-nodes-base.dataTable';

/**
 * n8n, as far as sleeping executions depend on it: executions that are stored as JSON when they sleep or end, helper
 * workflows, n8n's timers and its sweep, its crash recovery, and the user's stop. It follows the source of n8n 2.41. The
 * nodes run through their own `execute`, in virtual time.
 */
export class SimulatedN8n implements Host {
	readonly records = new Map<string, ExecutionRecord>();
	readonly awake = new Map<string, Awake>();
	/** Executions that slept and have ended, and whose result nobody has yet. */
	readonly unread = new Set<string>();
	/** Warnings and errors in n8n's log. */
	readonly log: string[] = [];
	/** The process that runs executions. */
	life: Life;
	/** The process that wakes executions. */
	main: Life;
	/** Number of times that a process was killed. */
	deaths = 0;
	/** Called at each moment at which an execution can be killed. */
	onMoment: (record: ExecutionRecord) => void = () => undefined;
	/** False while n8n starts. */
	private tablesWork = true;
	private tracker: WaitTracker;
	private readonly parameters = new Map<string, INodeParameters>();

	constructor(private readonly options: N8nOptions) {
		const { time, mode } = options;
		const bornAt = time.now() - 3_600_000;
		this.life = new Life(time, bornAt);
		this.main = mode === 'regular' ? this.life : new Life(time, bornAt);
		options.loaded(this.life);
		this.tracker = new WaitTracker(this, this.main);
		this.tracker.start();
	}

	get time(): VirtualTime {
		return this.options.time;
	}

	get service(): FakeService {
		return this.options.service;
	}

	get mode(): N8nOptions['mode'] {
		return this.options.mode;
	}

	get databaseMs(): number {
		return this.options.databaseMs;
	}

	/** Starts an execution of a user's workflow. */
	start(workflow: IWorkflowBase, items: INodeExecutionData[]): Awake {
		return this.begin(workflow, items, null);
	}

	/** Creates an execution. */
	begin(
		code: IWorkflowBase,
		items: INodeExecutionData[],
		caller: Awake | null,
		parent?: Parent,
	): Awake {
		const id = String(this.records.size + 1);
		const workflow = { ...code, id: code.id ?? caller?.record.workflow.id ?? '' };
		const start = workflow.nodes.find(({ type }) => type.endsWith('Trigger')) as INode;
		const data: ExecutionData = {
			executionData: {
				contextData: {},
				nodeExecutionStack: [{ node: { ...start }, data: { main: [items] }, source: null }],
			},
			resultData: { runData: {} },
			parentExecution: parent,
		};
		const depth = (caller?.record.depth ?? -1) + (parent || !caller ? 1 : 0);
		const record: ExecutionRecord = {
			id,
			workflow,
			caller: caller?.record.id ?? null,
			depth,
			status: 'running',
			waitTill: null,
			waitsFor: [],
			// Helper workflows of the data table are never read.
			data: caller && !parent ? '' : JSON.stringify(data),
			isDeleted: false,
			events: new Map(),
			hasEndEvent: false,
		};
		this.records.set(id, record);
		return new Running(this, this.life, record, data);
	}

	/** An execution that was not deleted. */
	find(id: string): ExecutionRecord | undefined {
		const record = this.records.get(id);
		return record?.isDeleted ? undefined : record;
	}

	/** n8n deletes executions that it does not keep, before it wakes the one that waits for them. */
	remove(record: ExecutionRecord): void {
		record.isDeleted = true;
		record.data = '';
	}

	/** An execution comes to a moment at which it can be killed. */
	arrived(record: ExecutionRecord): void {
		this.onMoment(record);
	}

	/** The node as n8n runs it: with the defaults of its parameters. */
	prepared(node: INode): INode {
		const type = this.options.types[node.type];
		if (!type) return { ...node };
		const name = `${node.type} ${JSON.stringify(node.parameters)}`;
		let parameters = this.parameters.get(name);
		if (!parameters) {
			const { description } = type;
			const { properties } = description;
			parameters =
				NodeHelpers.getNodeParameters(
					properties,
					node.parameters,
					true,
					false,
					node,
					description,
				) ?? {};
			this.parameters.set(name, parameters);
		}
		return { ...node, parameters };
	}

	/** Runs a node. */
	async execute(context: IExecuteFunctions, node: INode): Promise<INodeExecutionData[][]> {
		const { types, tables, aroundTable } = this.options;
		if (node.type !== DATA_TABLE) {
			return (await types[node.type].execute?.call(context)) as INodeExecutionData[][];
		}
		const operation = String(context.getNodeParameter('operation', 0));
		const { life } = this;
		if (!this.tablesWork)
			throw new Error('Attempted to use Data table node but the module is disabled');
		await life.survive(aroundTable(operation, 'before'));
		const output = await tables.execute.call(context);
		await life.survive(aroundTable(operation, 'after'));
		return output;
	}

	/** Stops an execution, as the user does. */
	stop(record: ExecutionRecord): void {
		if (record.isDeleted || !['running', 'waiting'].includes(record.status)) return;
		this.awake.get(record.id)?.stop.abort();
		this.tracker.forget(record.id);
		record.status = 'canceled';
		record.waitTill = null;
		if (!record.data) return;
		const data = dataOf(record);
		data.resultData.error = CANCELED;
		record.data = JSON.stringify(data);
	}

	/** Kills the process that runs executions, and starts another one. */
	kill(restart: Restart): void {
		const { time, mode, loaded } = this.options;
		if (this.life.isDead) return;
		this.deaths++;
		this.life.kill();
		const lost = [...this.awake.values()].map(({ record }) => record);
		this.awake.clear();
		if (mode === 'regular') {
			time.at(time.now() + restart.downMs, () => this.boot(restart));
			return;
		}
		time.at(time.now() + restart.downMs, () => {
			this.life = new Life(time, time.now());
			loaded(this.life);
			this.tracker.onWorker();
		});
		// Only the executions that n8n has put into its queue are given up.
		const jobs = lost.filter(({ id }) => this.tracker.hasStarted(id) || this.isRoot(id));
		const { least, most } = STALLED_MS;
		for (const job of jobs) {
			time.at(time.now() + least + this.options.random() * (most - least), () => giveUp(job));
		}
	}

	private isRoot(id: string): boolean {
		return this.records.get(id)?.caller === null;
	}

	private boot({ tablesMs, recoveryMs, amendMs }: Restart): void {
		const { time, loaded } = this.options;
		const { life } = this;
		if (!life.isDead) return;
		this.life = this.main = new Life(time, time.now());
		loaded(this.life);
		this.tablesWork = false;
		const { main } = this;
		void main.sleep(tablesMs).then(() => (this.tablesWork = true));
		void main.sleep(tablesMs + recoveryMs).then(async () => await recover(this, main, amendMs));
		// n8n wakes executions before it recovers them.
		this.tracker = new WaitTracker(this, main);
		this.tracker.start();
	}
}

function giveUp(record: ExecutionRecord): void {
	if (record.status !== 'running') return;
	const message = 'This execution failed to be processed too many times and will no longer retry';
	const error = { message, name: 'MaxStalledCountError' };
	// n8n overwrites all that it had stored of the execution.
	const data: ExecutionData = {
		executionData: { contextData: {}, nodeExecutionStack: [] },
		resultData: { runData: {}, error },
	};
	record.status = 'error';
	record.hasEndEvent = true;
	record.data = JSON.stringify(data);
}
