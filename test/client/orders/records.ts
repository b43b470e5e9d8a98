import { Journal } from '../../../client/orders/journal';
import type { Order } from '../../../client/orders/journal';
import { TableJournal } from '../../../client/orders/table-journal';
import type { CallTable, TableScope } from '../../../client/orders/table';
import { readGeneration, type Generation } from '../../../client/api/generation';
import { wireGeneration } from '../../support/answers';
import { MemoryTable, prompt, type TableFate } from '../../support/memory-table';
import { creating, type CreateChanges } from '../../support/step';
import { VirtualTime } from '../../support/virtual-time';

/** An execution whose items have keys. */
export class Execution {
	private readonly orders = new Map<string, Promise<Order>>();

	constructor(
		readonly journal: TableJournal,
		private readonly signal: AbortSignal,
	) {}

	/** The order of the only item with a key. */
	async order(key = 'a', changes: CreateChanges = {}): Promise<Order> {
		const made = this.orders.get(key) ?? this.ordered(key, changes);
		this.orders.set(key, made);
		return await made;
	}

	async stateOf(key = 'a'): Promise<string> {
		return (await this.entryOf(key)).state;
	}

	async entryOf(key = 'a', changes: CreateChanges = {}) {
		return await this.journal.read(await this.order(key, changes), this.signal);
	}

	/** Whether its request may be sent. */
	async reserve(key = 'a'): Promise<boolean> {
		return (await this.headerOf(key)) !== null;
	}

	async headerOf(key = 'a'): Promise<string | null> {
		return await this.journal.reserve(await this.order(key));
	}

	/** Reserves it ahead of its request. */
	async prepare(key = 'a', order = this.order(key)): Promise<void> {
		await this.journal.prepare(await order);
	}

	/** Its request received an id or a status. */
	async commit(id: string, status = 'pending', key = 'a'): Promise<void> {
		this.journal.commit(await this.order(key), generationOf(id, status));
	}

	async release(key = 'a'): Promise<void> {
		this.journal.release(await this.order(key));
	}

	async abandon(key = 'a'): Promise<void> {
		this.journal.abandon(await this.order(key));
	}

	private async ordered(key: string, changes: CreateChanges): Promise<Order> {
		const job = creating('a boat', 0, { idempotencyKey: key, ...changes });
		return this.journal.order(job, await job.request());
	}
}

/** A generation as the service returns it. */
export function generationOf(id: string, status = 'pending'): Generation {
	return readGeneration(wireGeneration({ id, status }), 0) as Generation;
}

/** Executions that share one table, in virtual time. */
export class Records {
	readonly time = new VirtualTime();
	readonly table = new MemoryTable(this.time);
	/** Whether the table can be reached. */
	down = false;
	/** Executions whose calls never arrive. */
	readonly deaf = new Set<string>();
	/** Number of table calls. */
	calls = 0;
	/** Overrides for the results of the next calls. */
	readonly fates: Array<Partial<TableFate>> = [];
	/** The error of the modification dates, and how far every clock has jumped ahead, in milliseconds. */
	skewMs = 0;
	jumpMs = 0;

	/**
	 * Starts an execution with its own writer.
	 *
	 * @param signal ends the execution
	 * @param reach its access to the table
	 */
	execution(
		writer: string,
		scope: Partial<TableScope> = {},
		signal = new AbortController().signal,
		reach: (table: CallTable) => CallTable = (table) => table,
	): Execution {
		const store = this.table.reachedBy(this.time, () => {
			this.calls++;
			const fate = { ...prompt, ...this.fates.shift() };
			return this.down || this.deaf.has(writer) ? { ...fate, fails: 'before' } : fate;
		});
		const table: CallTable = async (call) => {
			const before = this.table.rows.map(({ changedAt }) => changedAt);
			const rows = await store(call);
			this.table.rows.forEach((row, index) => {
				if (row.changedAt !== before[index]) row.changedAt = (row.changedAt ?? 0) + this.skewMs;
			});
			return rows;
		};
		const clock = {
			now: () => this.time.now() + this.jumpMs,
			sleep: async (ms: number, until?: AbortSignal) => await this.time.sleep(ms, until),
		};
		const journal = new TableJournal(
			new Journal({}, 0),
			{ workflowId: 'w', nodeId: 'n', executionId: writer, writer, ...scope },
			{ table: reach(table), clock, signal },
		);
		return new Execution(journal, signal);
	}

	/** Creates an execution that has read the key. */
	async open(writer: string): Promise<Execution> {
		const execution = this.execution(writer);
		await execution.journal.begin(['a', 'another']);
		return execution;
	}

	get row() {
		return this.table.rows[0];
	}
}

/** Runs it to its end. */
export async function inTime(play: (records: Records) => Promise<void>): Promise<void> {
	const records = new Records();
	await records.time.run(play(records));
}
