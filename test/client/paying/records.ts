import { GenerationRecord } from '../../../client/paying/record';
import type { RecordStore } from '../../../client/paying/record-store';
import type { RecordScope } from '../../../client/paying/record-rows';
import { MemoryTable, prompt, type TableFate } from '../../support/memory-table';
import { VirtualTime } from '../../support/virtual-time';

/** Executions that meet at one table, in virtual time. */
export class Records {
	readonly time = new VirtualTime();
	readonly table = new MemoryTable(this.time);
	/** Whether the table can be reached. */
	down = false;
	/** What becomes of the next changes, where it is not the usual. */
	readonly changes: Array<TableFate['fails']> = [];

	/** How often the table was called. */
	calls = 0;
	/** Executions whose changes do not arrive. */
	readonly deaf = new Set<string>();
	/** By how much the dates of changes are wrong, in milliseconds. */
	readonly skews: number[] = [];
	/** What every clock has jumped ahead. */
	jumpMs = 0;

	/** How long the next rows take to come into the table. */
	readonly insertMs: number[] = [];
	/** How long the next changes take. */
	readonly changeMs: number[] = [];

	/**
	 * An execution of its own.
	 *
	 * @param signal its end
	 * @param reach how it reaches the table
	 */
	recordOf(
		writer: string,
		scope: Partial<RecordScope> = {},
		signal = new AbortController().signal,
		reach: (store: RecordStore) => RecordStore = (store) => store,
	): GenerationRecord {
		const store = this.table.reachedBy(this.time, (method) => {
			this.calls++;
			return {
				...prompt,
				...(method === 'insert' && { beforeMs: this.insertMs.shift() ?? prompt.beforeMs }),
				...(method === 'change' && { beforeMs: this.changeMs.shift() ?? prompt.beforeMs }),
				fails: this.down ? 'before' : method === 'change' ? this.changes.shift() : undefined,
			};
		});
		const { change } = store;
		store.change = async (changes) => {
			if (this.deaf.has(writer)) throw new Error('the table is out of reach');
			const hits = await change(changes);
			const hit = this.table.rows.filter(({ id }) => hits.flat().includes(id));
			for (const row of hit) row.changedAt = (row.changedAt ?? 0) + (this.skews[0] ?? 0);
			return hits;
		};
		const clock = {
			now: () => this.time.now() + this.jumpMs,
			sleep: async (ms: number, signal?: AbortSignal) => await this.time.sleep(ms, signal),
		};
		return new GenerationRecord(
			{ workflowId: 'w', nodeId: 'n', executionId: writer, writer, ...scope },
			{
				store: reach(store),
				clock,
				random: () => 0.5,
				signal,
			},
		);
	}

	/** One that has claimed the key. */
	async open(writer: string): Promise<GenerationRecord> {
		const record = this.recordOf(writer);
		await record.begin(['a']);
		return record;
	}

	get row() {
		return this.table.rows[0];
	}
}

/** Two who may hold an order. */
export const [one, other] = [{}, {}];

/** Plays it to its end. */
export async function inTime(play: (records: Records) => Promise<void>): Promise<void> {
	const records = new Records();
	await records.time.run(play(records));
}
