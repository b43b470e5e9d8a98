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
 * While several generations run, calls start at least this far apart. A call costs n8n some 70 ms of processor time, for
 * one row as for many: its helper workflow gets an isolate of its own for expressions.
 */
const INTERVAL_MS = 300;

export interface TablePorts {
	table: CallTable;
	clock: Clock;
	debug?: Debug;
	/** Aborts when the execution ends. */
	signal: AbortSignal;
}

/** The rows of this step's workflow and node, or of its key scope. `readAt`: when the read started, as `Clock.now`. */
export interface Answer {
	rows: Row[];
	readAt: number;
}

/**
 * The table of one step. Calls run one at a time, because a call costs about the same for one row as for many.
 * Everything else waits, and goes with the next call.
 */
export class BatchedTable {
	/** Tasks of `keep` that are running. */
	private readonly pending = new Set<Promise<unknown>>();
	/** Ended generations by status, for the next call. */
	private readonly ends = new Map<string, Condition[]>();
	/** Ids of the running generations of this step. */
	readonly running = new Set<string>();
	/** The beginning of the column `writer` in all rows of this step. */
	readonly writers: string;
	private tickets = 0;
	/** Start of the last call. */
	private calledAt = 0;

	constructor(
		readonly scope: TableScope,
		readonly ports: TablePorts,
	) {
		this.writers = `${scope.writer}/`;
	}

	/** Returns a new writer, which identifies a row of this step. */
	newWriter(): string {
		return `${this.writers}${++this.tickets}`;
	}

	/** Runs a part of a call. If it fails, repeats it, although it may have taken effect. Throws as `CallTable`. */
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

	/** As `run`. Throws CancelledError after a stop, else GenerationError `record_unavailable`. */
	async require(part: Partial<TableCall>): Promise<Answer> {
		const ran = await toResult(async () => await this.run(part));
		if (ran.ok) return ran.value;
		throw this.ports.signal.aborted ? new CancelledError() : unavailable(ran.error);
	}

	/**
	 * Runs a task that must not be lost. An `UnansweredError` counts as a success, because final changes are carried out
	 * anyway. `close` waits for it.
	 *
	 * @param task is told whether it runs again, although it may have taken effect
	 * @returns its error; `null` after a success
	 */
	async keep(task: (isRepeated: boolean) => Promise<unknown>): Promise<unknown> {
		const errorOf = async (isRepeated: boolean) => {
			const ran = await toResult(async () => await task(isRepeated));
			return ran.ok || ran.error instanceof UnansweredError ? null : ran.error;
		};
		const keepIt = async () => {
			const error = await errorOf(false);
			// A stop ends the repeats of a call. The table then carries out its final changes.
			return error !== null && this.ports.signal.aborted ? await errorOf(true) : error;
		};
		const kept = keepIt();
		this.pending.add(kept);
		return await kept.finally(() => this.pending.delete(kept));
	}

	/** Queues a final status for the next call. */
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
