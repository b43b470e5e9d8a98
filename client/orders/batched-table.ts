import { batched, toResult } from '../async';
import { CancelledError } from '../api/errors';
import type { Clock, Debug } from '../ports';
import { unavailable } from './order-errors';
import type { Row } from '../jobs/row';
import {
	isOwnedBy,
	UnansweredError,
	type CallTable,
	type Change,
	type Condition,
	type TableCall,
	type TableScope,
} from './table';
import { callPatiently } from './table-retries';

/**
 * While several generations run, calls start at least this far apart, so that each call carries more writes. A call costs
 * n8n about 70 ms of processor time, for any number of rows.
 */
const INTERVAL_MS = 300;

export interface TablePorts {
	table: CallTable;
	clock: Clock;
	debug?: Debug;
	/** Aborts when the execution ends. */
	signal: AbortSignal;
}

/** The rows of this step (see `isOwnedBy`) that a call has read. `readAt`: the time by `Clock.now` when the call started. */
export interface Answer {
	rows: Row[];
	readAt: number;
}

/**
 * The data table, as one step uses it. Only one call runs at a time. Reads and writes that are requested meanwhile share the
 * next call, because a call costs about the same for one row as for many.
 */
export class BatchedTable {
	/** Tasks of `keep` that are running. */
	private readonly pending = new Set<Promise<unknown>>();
	/** Conditions that match the rows of ended generations, by final status. The next call writes these statuses. */
	private readonly ends = new Map<string, Condition[]>();
	/** Ids of the running generations of this step. */
	readonly running = new Set<string>();
	/** In all rows that this run of the step writes, the column `writer` begins with this text. */
	readonly writers: string;
	private tickets = 0;
	/** When the most recent call started, as `Clock.now`. */
	private calledAt = 0;

	constructor(
		readonly scope: TableScope,
		readonly ports: TablePorts,
	) {
		this.writers = `${scope.writer}/`;
	}

	/** Returns a new value for the column `writer`, which identifies the row of one claim. */
	newWriter(): string {
		return `${this.writers}${++this.tickets}`;
	}

	/** Runs `part` in the table's next call. A failed call is repeated, although it may have taken effect. */
	readonly run = batched(
		async (parts: Array<Partial<TableCall>>): Promise<Answer[]> => {
			const { clock, table } = this.ports;
			this.calledAt = clock.now();
			const ended = [...this.ends].map(([status, conditions]): Change => {
				return { where: { match: 'any', conditions }, set: { status }, final: true };
			});
			this.ends.clear();
			const call: TableCall = {
				changes: [...ended, ...parts.flatMap(({ changes = [] }) => changes)],
				inserts: parts.flatMap(({ inserts = [] }) => inserts),
				made: parts.flatMap(({ made = [] }) => made),
				keys: [...new Set(parts.flatMap(({ keys = [] }) => keys))],
			};
			const { readAt, found } = await callPatiently(this.ports, async (isRepeated) => {
				const mayBeThere = isRepeated || parts.some((part) => part.isRepeated);
				return { readAt: clock.now(), found: await table({ ...call, isRepeated: mayBeThere }) };
			});
			const rows = found.filter((row) => isOwnedBy(this.scope, row));
			return parts.map(() => ({ rows, readAt }));
		},
		async () => {
			const { clock } = this.ports;
			if (this.running.size > 1) await clock.sleep(this.calledAt + INTERVAL_MS - clock.now());
		},
	);

	/** Like `run`, but a failure throws CancelledError after a stop, and GenerationError `record_unavailable` otherwise. */
	async require(part: Partial<TableCall>): Promise<Answer> {
		const ran = await toResult(async () => await this.run(part));
		if (ran.ok) return ran.value;
		throw this.ports.signal.aborted ? new CancelledError() : unavailable(ran.error);
	}

	/**
	 * Runs a task whose writes must not be lost. `close` waits for the task. An `UnansweredError` (the execution has ended)
	 * counts as a success, because n8n still carries out the call's `finalChanges`.
	 *
	 * @param task gets true in its second run: the first run may have taken effect although it failed
	 * @returns the error of the task; `null` after a success
	 */
	async keep(task: (isRepeated: boolean) => Promise<unknown>): Promise<unknown> {
		const errorOf = async (isRepeated: boolean) => {
			const ran = await toResult(async () => await task(isRepeated));
			return ran.ok || ran.error instanceof UnansweredError ? null : ran.error;
		};
		const keepIt = async () => {
			const error = await errorOf(false);
			// After a stop, `run` repeats no failed call. So repeat it once here: then at least the `finalChanges` are written.
			return error !== null && this.ports.signal.aborted ? await errorOf(true) : error;
		};
		const kept = keepIt();
		this.pending.add(kept);
		return await kept.finally(() => this.pending.delete(kept));
	}

	/** Queues the final status of a generation: the next call writes it. */
	end(status: string, id: string): void {
		this.running.delete(id);
		this.ends.set(status, [...(this.ends.get(status) ?? []), ['generation_id', id]]);
	}

	/** Finishes all writes. Never throws. */
	async close(): Promise<void> {
		while (this.pending.size > 0) await Promise.all(this.pending);
		if (this.ends.size > 0) await toResult(async () => await this.run({}));
	}
}
