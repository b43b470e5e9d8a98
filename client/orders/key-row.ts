import { toResult } from '../async';
import { CancelledError, type KnownGeneration } from '../api/errors';
import type { Answer, BatchedTable } from './batched-table';
import { EarlyClaim, MAX_CLAIM_AGE_MS, type Held } from './early-claim';
import { headerOf } from './order';
import { stillSending, tableTrouble } from './order-errors';
import type { CreateJob } from '../jobs/job';
import type { Silence } from '../jobs/memory';
import type { Row, RowFields } from '../jobs/row';
import {
	asSeen,
	claimOf,
	hasId,
	isLive,
	madeFrom,
	newRow,
	rowInForce,
	sameState,
	SENT,
	UNCERTAIN,
	type Change,
	type RequestFields,
	type TableCall,
} from './table';

/** A row's writer counts as dead once the row has not changed for this long: longer than a claim and its request take. */
const GONE_AFTER_MS = 120_000;
/** Between two reads, at most this much counts as silence: the machine may have been suspended, and the writer with it. */
const LONGEST_GAP_MS = 20_000;
/** Minimum wait for the request of another execution. A dead execution must be detected before this wait ends. */
const SHORTEST_WAIT_MS = 150_000;
/** If several executions claim a key at once: pause before the key is read again. */
const SETTLE_MS = 300;
/** A claim gives up after this many reads. The table counts as broken after this many claims that did not find their row. */
const MOST_TRIES = 10;

/**
 * An idempotency key and its row, as a step knows them. At most one request per key is in flight, across all executions.
 * Callers handle the orders of a key one by one. A key with an unresolved row is claimed by updating that row, if it is
 * unchanged since it was read. Any other key is claimed by inserting a row with the status `sent`, then reading the key. If
 * that shows another row that may have been charged, nothing is sent. Of two claims at once, the newer row is deleted.
 */
export class KeyRow {
	/** The row that counts, as last known; `null` if there is none, `undefined` if the key was not read. */
	row: Row | null | undefined;
	/** The claim of this step, from the write of its row until the result of its request. */
	private held: Held | null = null;
	readonly early: EarlyClaim;
	/** The pending write of a generation id. */
	arriving: Promise<void> | null = null;
	/** A row with a generation id that could not be written to the table; `null` if there is none. */
	unrecorded: Row | null = null;
	/** Rows of failed generations, by generation id; `null` if the row is unknown. The table may show an older status. */
	readonly failed = new Map<string, Row | null>();
	/** How long the row has not changed; `null` before a row was read. */
	silence: Silence | null = null;
	private misses = 0;

	/** @param refresh reads the key from the table, and passes the result to `observe` */
	constructor(
		private readonly key: string,
		private readonly table: BatchedTable,
		private readonly refresh: () => Promise<void>,
	) {
		this.early = new EarlyClaim(table.ports.clock, () => this.release(false));
	}

	/** True if the key was read, and has no generation and no request. */
	get isFree(): boolean {
		return this.row === null && this.held === null && this.arriving === null;
	}

	/** True if another execution wrote the row and may still be sending its request. */
	get isElsewhere(): boolean {
		const { row, silence, table } = this;
		if (!row || hasId(row) || row.status === UNCERTAIN) return false;
		const isGone = silence !== null && silence.ms >= GONE_AFTER_MS;
		return !isGone && !row.writer.startsWith(table.writers);
	}

	/** True if a run of this step has written the row. Always false for a step that cannot sleep. */
	isOwn({ writer }: RowFields): boolean {
		const { token } = this.table.scope;
		return token !== undefined && writer.startsWith(`${token}/`);
	}

	/** Rows of the failed generations that this step created, the oldest first. */
	get ownFailures(): Row[] {
		return [...this.failed.values()]
			.flatMap((row) => (row && this.isOwn(row) ? row : []))
			.sort((one, two) => one.id - two.id);
	}

	/** Takes over a row that an earlier run of the step could not write to the table. `writeAgain` writes it. */
	adopt(row: Row): void {
		if (row.generation_id === this.row?.generation_id || this.failed.has(row.generation_id)) return;
		this.unrecorded = row;
		if (!this.row || !hasId(this.row)) this.row = row;
	}

	/** Stores what was read, unless this step is writing to the key: the read may then be outdated. */
	observe(answer: Answer): void {
		const rows = this.rowsIn(answer);
		if (this.held || this.arriving) return;
		this.row = rowInForce(rows);
		if (this.row) this.measure(this.row, answer.readAt);
	}

	/** Adds up how long the row has not changed, by this machine's clock. Passing the same read again adds nothing. */
	private measure(row: Row, readAt: number): void {
		const { silence } = this;
		if (silence === null || !sameState(silence.row, row)) {
			// The silence begins after the read: the row may have changed while the read ran.
			this.silence = { row, at: this.table.ports.clock.now(), ms: 0 };
			return;
		}
		silence.ms += Math.max(0, Math.min(readAt - silence.at, LONGEST_GAP_MS));
		silence.at = Math.max(silence.at, readAt);
	}

	/**
	 * Returns the row in force: one with a generation, or an unresolved one whose writer is dead; `null` if there is none. If
	 * another execution is sending the key's request, waits for the result.
	 *
	 * @param wait pauses before the key is read again; throws CancelledError once the step ends
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async find(
		{ timeoutMs, onUncertainCharge }: CreateJob,
		signal: AbortSignal,
		wait: (reads: number) => Promise<void>,
	): Promise<Row | null> {
		const { clock } = this.table.ports;
		// An earlier run of this sleeping step has probably ended. For `error`, that is enough: its row is uncertain at once.
		// For `resubmit`, that run must be certainly dead, as for any other execution.
		const isOver = (row: Row) => onUncertainCharge === 'error' && this.isOwn(row);
		const deadline = clock.now() + Math.max(timeoutMs, SHORTEST_WAIT_MS);
		for (let reads = 0; ; reads++) {
			if (!this.row) await this.arriving;
			if (signal.aborted) throw new CancelledError();
			const { row } = this;
			if (row === null || (row && hasId(row))) return row;
			// Before the row's writer counts as dead, read the row at least once: it may have changed since the step last read it.
			if (row && reads > 0 && (isOver(row) || !this.isElsewhere)) return this.abandoned(row);
			if (row && clock.now() >= deadline) throw stillSending(row);
			if (reads > 1) await wait(reads - 1);
			await this.refresh();
		}
	}

	/** Marks a row whose writer is dead as uncertain, so that other executions do not wait for the writer as well. */
	private abandoned(row: Row): Row {
		if (row.status !== UNCERTAIN) this.change({ where: asSeen(row), set: { status: UNCERTAIN } });
		return (this.row = { ...row, status: UNCERTAIN });
	}

	/**
	 * Writes the row of a request that is about to be sent. Afterwards, no other execution sends a request for the key.
	 * Returns `null` if another execution was first, or the row has changed: then call `find`. `isEarly`: see `EarlyClaim`.
	 *
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async claim(fields: RequestFields, isEarly = false): Promise<Held | null> {
		const early = isEarly ? null : await this.early.take();
		if (early) return early;
		const { row, table } = this;
		const { scope } = table;
		if (table.ports.signal.aborted) throw new CancelledError();
		if (row && (hasId(row) || this.isElsewhere)) return null;
		const sent = {
			...fields,
			// The header depends on `request` and `model`. An unresolved row keeps both, so that the repeated header is the same.
			...(row?.request && { request: row.request, model: row.model }),
			execution_id: scope.executionId,
			status: SENT,
			writer: table.newWriter(),
		};
		const owner = [scope.workflowId, scope.nodeId, scope.type ?? '', this.key];
		this.held = {
			row: { ...(row ?? newRow(scope, this.key)), ...sent },
			wasUnresolved: Boolean(row),
			header: headerOf(owner, this.failed.size, sent),
		};
		const part = row
			? { changes: [{ where: asSeen(row), set: sent }] }
			: { inserts: [this.held.row] };
		return await this.contend(this.held, part);
	}

	/** Ends a claim without a generation: deletes its row, or marks the row as uncertain if the request may be charged. */
	release(mayBeCharged: boolean): void {
		const { held } = this;
		if (!held) return;
		this.held = null;
		const set = mayBeCharged ? { status: UNCERTAIN } : null;
		this.change({ where: claimOf(held.row), set });
		this.row = set && ({ ...held.row, ...set } as Row);
	}

	private change(change: Change): void {
		const changes = [{ ...change, final: true }];
		void this.table.keep(async () => await this.table.run({ changes }));
	}

	/** Ends a claim, as its generation is known, and begins to write the generation's id. Callers need not wait for that. */
	made({ id, status }: KnownGeneration): void {
		const { held, table } = this;
		if (!held) return;
		this.held = null;
		const row = madeFrom(held.row, id, status ?? 'pending') as Row;
		table.running.add(id);
		// `pending` even if the status is final: `ended` is called next, and ignores a status that `this.row` already has.
		this.row = { ...row, status: 'pending' };
		this.write(row);
	}

	writeAgain(): void {
		if (this.unrecorded && !this.arriving) this.write(this.unrecorded, true);
	}

	/** @param mayBeThere true if the row may have been written before */
	private write(row: Row, mayBeThere = false): void {
		const written = this.table.keep(async (runsAgain) => {
			const part = { made: [row], isRepeated: mayBeThere || runsAgain, keys: [this.key] };
			const { rows } = await this.table.run(part);
			const found = rows.find(({ generation_id: id }) => id === row.generation_id);
			if (found && this.row?.generation_id === row.generation_id) this.row.id = found.id;
		});
		const arriving = written.then((error) => {
			this.unrecorded = error === null ? null : row;
			if (this.arriving === arriving) this.arriving = null;
		});
		this.arriving = arriving;
	}

	/** Stores a final status. A failed generation was refunded, so its row no longer counts, and the key is read again. */
	ended({ id, status }: { id: string; status: string }): void {
		const { row } = this;
		// Ignore a status that is already stored. Also ignore a generation that another item has replaced by a newer one.
		if (row !== undefined && (row?.generation_id !== id || row.status === status)) return;
		// The status is written into the row that has the id, so the id must be written first.
		void Promise.resolve(this.arriving).then(() => {
			this.table.end(status, id);
			if (this.unrecorded?.generation_id === id) this.unrecorded = { ...this.unrecorded, status };
		});
		if (status === 'failed') {
			this.failed.set(id, row ?? null);
			this.row = undefined;
		} else if (row) this.row = { ...row, status };
	}

	private rowsIn({ rows }: Answer): Row[] {
		const seen = rows
			.filter((row) => row.key === this.key)
			.map((row) => (this.failed.has(row.generation_id) ? { ...row, status: 'failed' } : row));
		for (const row of seen)
			if (!isLive(row)) this.failed.set(row.generation_id || String(row.id), row);
		return seen;
	}

	/** Writes the row of a claim, then reads the key until that row is the only one, or another row wins. */
	private async contend(held: Held, part: Partial<TableCall>): Promise<Held | null> {
		const { wasUnresolved } = held;
		for (let [round, write] = [0, part]; ; round++) {
			const call = { ...write, keys: [this.key] };
			const called = await toResult(async () => await this.table.require(call));
			if (!called.ok) {
				this.release(wasUnresolved);
				throw called.error;
			}
			const seen = this.rowsIn(called.value);
			const ours = seen.find(({ writer }) => writer === held.row.writer);
			// With `wasUnresolved`, this claim has updated the oldest row, so only a row with a generation competes with it.
			const competes = ({ writer }: Row) => !wasUnresolved && writer !== held.row.writer;
			const rivals = seen.filter((one) => isLive(one) && (hasId(one) || competes(one)));
			const isFirst = ours && !rivals.some((rival) => hasId(rival) || rival.id < ours.id);
			const isFresh = this.table.ports.clock.now() - called.value.readAt < MAX_CLAIM_AGE_MS;
			if (isFirst && rivals.length === 0 && isFresh) {
				held.row = ours;
				return held;
			}
			if (!isFirst || round === MOST_TRIES) {
				if (ours || rivals.length === 0) this.release(wasUnresolved);
				this.held = null;
				// Leave out the row that this claim inserted: it is deleted by now.
				const remains = ({ writer }: Row) => wasUnresolved || writer !== held.row.writer;
				this.observe({ ...called.value, rows: called.value.rows.filter(remains) });
				if (rivals.length === 0 && ++this.misses >= MOST_TRIES) {
					this.row = null;
					throw tableTrouble();
				}
				return null;
			}
			// The row of this claim is the oldest. Each rival deletes its row, or has sent its request: the next read shows which.
			if (rivals.length > 0) await this.table.ports.clock.sleep(SETTLE_MS);
			write = { changes: [{ where: claimOf(held.row), set: { status: SENT } }] };
		}
	}
}
