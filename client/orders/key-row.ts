import { toResult } from '../async';
import { CancelledError, type KnownGeneration } from '../api/errors';
import type { Answer, BatchedTable } from './batched-table';
import { stillSending, tableTrouble } from './order-errors';
import type { Row, RowFields } from '../jobs/row';
import {
	all,
	asSeen,
	contest,
	hasId,
	isLive,
	isUnresolved,
	newRow,
	rowsInForce,
	sameState,
	SENT,
	type RequestFields,
	type TableCall,
} from './table';

/** A writer is treated as dead when its row has not changed for this long: longer than a claim and its request take. */
const GONE_AFTER_MS = 120_000;
/** Longest gap between two reads that counts in full. During a longer one, the machine may have been suspended, writer included. */
const LONGEST_GAP_MS = 20_000;
/** A request leaves at most this long after its claim began. Otherwise its row is written and read again. */
const MAX_CLAIM_AGE_MS = 20_000;
/** Longest pause between reads of a key whose request another execution sends. Each read is a helper workflow. */
const LONGEST_PAUSE_MS = 5_000;
/** Minimum wait for another execution's request: long enough to detect that its writer is dead. */
const SHORTEST_WAIT_MS = 150_000;
/** An older read is repeated before a resubmission: after a pause of the process, the first request may have its ID. */
const STALE_MS = 5_000;
/** Pause before a key with several new rows is read again, and the maximum number of such reads. */
const SETTLE_MS = 300;
const MOST_ROUNDS = 10;
/** Maximum number of writes that have no effect. */
const MOST_MISSES = 10;

/** A row that belongs to this step: its request may be in flight. */
interface Held {
	row: RowFields & Partial<Row>;
	/** True if the row may already have been charged. It then stays unresolved, even if this request is rejected. */
	wasUnresolved: boolean;
}

/**
 * An idempotency key and its row, as a step knows them. At most one request per key is sent, even if several executions
 * use the key.
 *
 * A claim inserts a row with the status `sent`, then reads the key. The request is sent only if no other row is there
 * that may have been charged. Of two executions, the one that reads later sees both rows, and the newer row is deleted.
 * An existing row is changed only if nothing else has changed it. Callers handle the orders of a key one after the
 * other.
 *
 * A key is claimed only when a slot may be free: an item that waited with a claim would be uncertain if its process
 * died. Inserting a row earlier with a status for waiting saves no time: changing it to `sent` takes as long as the
 * insertion.
 */
export class KeyRow {
	/** The row that counts, as last known; `null` if there is none, `undefined` if the key was not read. */
	row: Row | null | undefined;
	/** The claim of this step, from the insertion of its row until the result of its request. */
	held: Held | null = null;
	/** The pending write of a generation id. */
	arriving: Promise<void> | null = null;
	/** The row of a generation that could not be written to the table. */
	unrecorded: Row | null = null;
	/** Number of failed generations, as last read. */
	failures = 0;
	/** Rows of generations of this step that have failed, the oldest first. */
	ownFailures: Row[] = [];
	/** Ids of failed generations. The table may still hold an older status for them. */
	readonly failed = new Set<string>();
	/** Writers of rows that are being deleted. */
	private readonly dropped = new Set<string>();
	/** For how long reads have shown the row of another execution unchanged. */
	private silence: { row: Row; readAt: number; at: number; ms: number } | null = null;
	private misses = 0;

	/** @param refresh reads the key, and observes it */
	constructor(
		private readonly key: string,
		private readonly table: BatchedTable,
		private readonly refresh: () => Promise<void>,
	) {}

	/** What the header of its requests is made from, besides the request. */
	get owner(): string[] {
		const { workflowId, nodeId, type } = this.table.scope;
		return [workflowId, nodeId, ...(type === undefined ? [] : [type]), this.key];
	}

	/** True if another execution is sending the request of the row. */
	get isElsewhere(): boolean {
		const { row, table } = this;
		if (!row || !isUnresolved(row) || row.writer === '') return false;
		return !row.writer.startsWith(table.writers);
	}

	/** True if a run of this step has written the row. */
	isOwn({ writer }: RowFields): boolean {
		const { batch } = this.table.scope;
		return batch !== undefined && writer.startsWith(`${batch}/`);
	}

	/** Takes up a generation that an earlier run could not write to the table. */
	adopt(row: Row): void {
		const isThere = this.row?.generation_id === row.generation_id;
		if (isThere || this.failed.has(row.generation_id)) return;
		this.unrecorded = row;
		if (!this.row || !hasId(this.row)) this.row = row;
	}

	/** Stores what was read, unless this step has written to the key in the meantime. */
	observe(answer: Answer): void {
		const rows = this.rowsIn(answer);
		if (this.held || this.arriving) return;
		this.row = rowsInForce(rows).get(this.key) ?? null;
		if (this.row && this.isElsewhere) this.measure(this.row, answer.readAt);
	}

	/**
	 * Adds up for how long the row has been unchanged, by this clock alone. The first read counts from its end, because the
	 * row may have changed while it ran. Several calls may share one read.
	 */
	private measure(row: Row, readAt: number): void {
		const { silence } = this;
		if (silence?.readAt === readAt) return;
		const isSame = silence !== null && sameState(silence.row, row);
		const gapMs = isSame ? Math.min(readAt - silence.at, LONGEST_GAP_MS) : 0;
		const at = isSame ? readAt : this.table.ports.clock.now();
		this.silence = { row, readAt, at, ms: (isSame ? silence.ms : 0) + gapMs };
	}

	/**
	 * Returns the row in force: one with a generation, or an unresolved one whose writer is dead; `null` if there is none. If
	 * another execution is sending its request, waits for the result.
	 *
	 * @param mayDefer true if `claim` follows at once, and reads the key
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async find(timeoutMs: number, signal: AbortSignal, mayDefer: boolean): Promise<Row | null> {
		const { clock } = this.table.ports;
		const deadline = clock.now() + Math.max(timeoutMs, SHORTEST_WAIT_MS);
		for (let reads = 0; ; reads++) {
			if (this.row === null) await this.arriving;
			if (signal.aborted) throw new CancelledError();
			const { row } = this;
			if (row === null || (row && hasId(row))) return row;
			if (row === undefined && mayDefer) return null;
			// An old read proves nothing: only a fresh one shows whether the writer is alive.
			if (row && reads > 0 && (await this.isAbandoned(row))) return this.row ?? row;
			if (row && clock.now() >= deadline) throw stillSending(row);
			if (reads > 1) await clock.sleep(Math.min((reads - 1) * 1000, LONGEST_PAUSE_MS), signal);
			if (signal.aborted) throw new CancelledError();
			await this.refresh();
		}
	}

	/**
	 * Writes the row of a request that is about to be sent. Afterwards, no other execution sends one for the key. Returns
	 * `null` if another one was first, or if the row has changed: `find` then returns the result.
	 *
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async claim(fields: RequestFields): Promise<Held | null> {
		const { row, table } = this;
		const { ports, scope } = table;
		if (ports.signal.aborted) throw new CancelledError();
		if (row && (hasId(row) || this.isElsewhere)) return null;
		const wasUnresolved = Boolean(row);
		const sent = {
			...fields,
			// A row that may already be charged keeps what its header is made from.
			...(row?.request && { request: row.request, model: row.model }),
			execution_id: scope.executionId,
			status: SENT,
			writer: table.newWriter(),
		};
		const held = { row: { ...(row ?? newRow(scope, this.key)), ...sent }, wasUnresolved };
		const part = row
			? { changes: [{ where: asSeen(row), set: sent }] }
			: { inserts: [held.row], ifMissing: row === undefined };
		this.held = held;
		return await this.contend(held, part, row?.execution_id);
	}

	/**
	 * Confirms the claim before its request is sent again. In the meantime, a user may have entered the ID, or deleted the
	 * row. Returns `null` as `claim`, and throws as that.
	 */
	async claimAgain(): Promise<Held | null> {
		const held = this.held as Held;
		held.wasUnresolved = true;
		return await this.contend(held, touch(held));
	}

	/**
	 * Ends a claim without a generation. A row that was certainly not charged is deleted. Otherwise its writer is removed,
	 * so that other executions need not wait for it.
	 */
	release(mayBeCharged: boolean): void {
		const { held, table } = this;
		if (!held) return;
		this.held = null;
		const { row } = held;
		const set = mayBeCharged ? { writer: '', status: SENT } : null;
		// A user may have entered an id into the row. Such a row is kept.
		const where = all(['writer', row.writer], ['generation_id', '']);
		const changes = [{ where, set, final: true }];
		void table.keep(async () => await table.run({ changes }));
		if (!set) this.dropped.add(row.writer);
		this.row = set && ({ ...row, ...set } as Row);
	}

	/** Ends a claim with a generation, and writes its id. Callers need not wait for it. */
	made({ id, status }: KnownGeneration): void {
		const { held, table } = this;
		if (!held) return;
		this.held = null;
		const row = { ...held.row, generation_id: id, status: status ?? 'pending' } as Row;
		table.running.add(id);
		// A final status is stored by `ended`, once the id is written.
		this.row = { ...row, status: 'pending' };
		const written = table.keep(async () => await table.writeId(row));
		const arriving = written.then((error) => {
			if (error !== null) this.unrecorded = row;
			if (this.arriving === arriving) this.arriving = null;
		});
		this.arriving = arriving;
	}

	/** Notes that an id that could not be written is being written again. `written`: the ids that are then in the table. */
	arrivesBy(written: Promise<ReadonlySet<string>>): void {
		const arriving = written.then((ids) => {
			if (this.unrecorded && ids.has(this.unrecorded.generation_id)) this.unrecorded = null;
			if (this.arriving === arriving) this.arriving = null;
		});
		this.arriving = arriving;
	}

	/** Stores a final status. A failed generation was refunded, so its row no longer counts. */
	ended({ id, status }: { id: string; status: string }): void {
		const { row } = this;
		// Another item with the same key may have a newer generation. A key that was not read yet has none in this step.
		if (row !== undefined && (row?.generation_id !== id || row.status === status)) return;
		// The id is written first.
		void Promise.resolve(this.arriving).then(() => {
			this.table.end(status, id);
			if (this.unrecorded?.generation_id === id) this.unrecorded = { ...this.unrecorded, status };
		});
		if (status === 'failed') {
			this.row = null;
			this.failed.add(id);
		} else if (row) this.row = { ...row, status };
	}

	/** Returns all rows of the key, without those that are being deleted. Keeps a row into which a user has entered an id. */
	private rowsIn({ rows }: Answer): Row[] {
		const seen = rows
			.filter((row) => row.key === this.key && (hasId(row) || !this.dropped.has(row.writer)))
			.map((row) => (this.failed.has(row.generation_id) ? { ...row, status: 'failed' } : row));
		const failed = seen.filter((row) => !isLive(row));
		failed.filter(hasId).forEach((row) => this.failed.add(row.generation_id));
		this.failures = new Set(failed.map((row) => row.generation_id || row.id)).size;
		this.ownFailures = failed.filter((row) => this.isOwn(row)).sort((one, two) => one.id - two.id);
		return seen;
	}

	/**
	 * True if the writer of the unresolved row is dead. Its name is then removed from the row, so that other executions need
	 * not wait as well.
	 */
	private async isAbandoned(row: Row): Promise<boolean> {
		if (!this.isElsewhere) return true;
		const { silence, table } = this;
		if (!silence || !sameState(silence.row, row) || silence.ms < GONE_AFTER_MS) return false;
		const changes = [{ where: asSeen(row), set: { writer: '', status: SENT }, final: true }];
		const written = await toResult(async () => await table.run({ changes, keys: [this.key] }));
		if (!written.ok) {
			// A claim then ends with the error of the table, and does not wait for the writer again.
			this.row = { ...row, writer: '' };
			return true;
		}
		this.observe(written.value);
		const now = this.row;
		if (now?.id === row.id && isUnresolved(now) && now.writer === '') return true;
		if (now?.writer === row.writer && now.status === row.status) this.missed(row.id);
		return false;
	}

	/**
	 * Writes the row of a claim, then reads the key until that row is the only one, or another row wins.
	 *
	 * @param sender the execution that has sent the last request of the row
	 */
	private async contend(
		held: Held,
		part: Partial<TableCall>,
		sender = held.row.execution_id,
	): Promise<Held | null> {
		const { clock } = this.table.ports;
		const { wasUnresolved } = held;
		let write = part;
		for (let round = 0; ; round++) {
			const call = { ...write, keys: [this.key] };
			const called = await toResult(async () => await this.table.require(call, true));
			if (!called.ok) {
				this.release(wasUnresolved);
				if (this.row) this.row = { ...this.row, execution_id: sender };
				throw called.error;
			}
			const answer = called.value;
			const seen = this.rowsIn(answer);
			const ageMs = clock.now() - answer.readAt;
			const mostMs = wasUnresolved && round === 0 ? STALE_MS : MAX_CLAIM_AGE_MS;
			const isExpired = ageMs >= mostMs;
			const ours = seen.find((row) => row.writer === held.row.writer);
			const result = contest(seen, ours, wasUnresolved);
			if (ours && result === 'won' && !isExpired) {
				held.row = ours;
				return held;
			}
			const isOver = round === MOST_ROUNDS || (result !== 'wait' && result !== 'won');
			if (isOver) {
				if (result === 'missing' || (ours && !hasId(ours))) this.release(wasUnresolved);
				this.held = null;
				this.observe(answer);
				if (result === 'missing' || isExpired) this.missed(held.row.id);
				return null;
			}
			write = touch(held);
			// The other executions delete their rows, or have sent their requests.
			if (result === 'wait') await clock.sleep(SETTLE_MS);
		}
	}

	/** Counts a write that had no effect. Throws GenerationError `record_unavailable` if that goes on. */
	private missed(id?: number): void {
		this.misses++;
		if (this.misses < MOST_MISSES) return;
		this.row = null;
		throw tableTrouble(id);
	}
}

/** Writes the row of a claim again, so that others see that its writer lives. */
function touch({ row }: Held): Partial<TableCall> {
	const where = all(['writer', row.writer], ['generation_id', '']);
	return { changes: [{ where, set: { status: SENT } }] };
}
