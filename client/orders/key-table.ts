import { attempt } from '../async';
import { CancelledError, type KnownGeneration } from '../api/errors';
import { BatchedTable, type TablePorts } from './batched-table';
import { checkWriter } from './dead-writers';
import { KeyView } from './key-view';
import { stillSending, tableTrouble, unavailable } from './order-errors';
import {
	all,
	asSeen,
	hasId,
	isFree,
	isLive,
	isOpenRow,
	newRow,
	sameState,
	SENT,
	type Condition,
	type RequestFields,
	type Row,
	type RowFields,
	type TableCall,
	type TableScope,
} from './table';

/** Interval of the heartbeat while requests are in flight. */
const BEAT_MS = 15_000;
/** Longest reservation. The difference to `GONE_AFTER_MS` (dead-writers.ts) leaves time for a heartbeat. */
const LATE_MS = 40_000;
/** A read that is older than this is repeated before a request is resubmitted. */
const STALE_MS = 5_000;
/** Longest pause between reads of a key whose request another execution sends. Each read is a helper workflow. */
const LONGEST_PAUSE_MS = 5_000;
/** Minimum wait for another execution's request: long enough to detect that its writer is dead. */
const SHORTEST_WAIT_MS = 90_000;
/** Pause before a key with several new rows is read again, and the maximum number of such reads. */
const SETTLE_MS = 300;
const MOST_ROUNDS = 10;
/** Maximum number of writes of a key that have no effect. */
const MOST_MISSES = 10;

/** A reserved row. */
interface Held {
	holder: object;
	row: RowFields & Partial<Row>;
	/** True if the row may already have been charged. It then stays open, even if this request is rejected. */
	wasOpen: boolean;
	/** True if its request may be in flight. False while it was only reserved ahead. */
	isDue: boolean;
	/** When the row was last read as the only one of its key. */
	readAt: number;
}

/**
 * The rows of a step's keys. At most one request per key is sent, even if several executions use the key.
 *
 * 1. A new row is inserted as sent, and the key is then read. The request leaves only if no other row is there. Of two
 * executions, the one that reads later sees both rows. The newer row is deleted.
 *
 * 2. An existing row is changed only while it is unchanged. Its writer is a ticket that no other row has.
 *
 * Callers handle the orders of a key one after the other.
 */
export class KeyTable {
	/** What is known of the keys. */
	readonly view: KeyView;
	/** The rows of generations that could not be written to the table, by key. */
	readonly unrecorded = new Map<string, Row>();
	private readonly held = new Map<string, Held>();
	/** Writes of ids, by key. */
	private readonly arriving = new Map<string, Promise<unknown>>();
	/** Keys that are not read before they are reserved. */
	private readonly deferred = new Set<string>();
	private readonly misses = new Map<string, number>();
	private readonly table: BatchedTable;
	private readonly closing = new AbortController();
	private tickets = 0;

	constructor(
		private readonly scope: TableScope,
		private readonly ports: TablePorts,
	) {
		const isAhead = (key: string) => this.held.has(key) || this.arriving.has(key);
		this.view = new KeyView(scope, ports.clock, isAhead);
		this.table = new BatchedTable(scope, ports);
		void this.beat();
	}

	/**
	 * Reads the keys of a step at once. A single key is read together with its reservation instead.
	 *
	 * @throws GenerationError `record_unavailable`
	 */
	async open(keys: string[]): Promise<void> {
		if (keys.length === 1) return void this.deferred.add(keys[0]);
		const read = await attempt(async () => await this.refresh([...new Set(keys)]));
		// After a cancellation nothing is sent.
		if (!read.ok && !this.ports.signal.aborted) throw unavailable(read.error);
	}

	/**
	 * Returns the row that counts for a key. If another execution is sending its request, waits for the result.
	 *
	 * @param timeoutMs maximum wait, in milliseconds; at least `SHORTEST_WAIT_MS`
	 * @param mayDefer true if `reserve` follows at once, and reads the key
	 * @returns the row of a generation, or an open row whose writer is gone; else nothing was sent
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async find(
		key: string,
		signal: AbortSignal,
		timeoutMs: number,
		mayDefer: boolean,
	): Promise<Row | null> {
		const { clock } = this.ports;
		const deadline = clock.now() + Math.max(timeoutMs, SHORTEST_WAIT_MS);
		for (let reads = 0; ; reads++) {
			if (this.view.rows.get(key) === null) await this.arriving.get(key);
			if (signal.aborted) throw new CancelledError();
			const row = this.view.rows.get(key);
			if (row === null || (row && !isOpenRow(row))) return row;
			if (row === undefined && mayDefer && this.deferred.has(key)) return null;
			// An old read proves nothing: only a fresh one shows whether the writer is alive.
			if (row && reads > 0 && (await this.isAbandoned(row))) return this.view.rows.get(key) ?? row;
			if (row && clock.now() >= deadline) throw stillSending(row);
			if (reads > 1) await clock.sleep(Math.min((reads - 1) * 1000, LONGEST_PAUSE_MS), signal);
			if (signal.aborted) throw new CancelledError();
			await this.orUnavailable(async () => await this.refresh([key]));
		}
	}

	/**
	 * Writes the row of a request that is about to be sent. After `true`, no other execution sends one for the key.
	 *
	 * @param holder the sender
	 * @param open the open row from `find`, if it may be sent again
	 * @param isDue false to reserve ahead of the request: it follows another call for the same holder
	 * @returns `false` if another execution was first, or the row has changed; `find` then returns the result
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async reserve(
		key: string,
		holder: object,
		fields: RequestFields,
		{ open, isDue = true }: { open?: Row; isDue?: boolean } = {},
	): Promise<boolean> {
		if (this.ports.signal.aborted) throw new CancelledError();
		const again = this.held.get(key);
		if (again?.holder === holder) return await this.reserveAgain(key, again);
		// Two items have the same key, and this one is first.
		if (again) this.release(key, again.holder);
		const row = this.view.rows.get(key) ?? null;
		if (row && !isFree(row) && !(open && !hasId(row) && sameState(row, open))) return false;
		const { executionId, writer } = this.scope;
		const ticket = `${writer}/${++this.tickets}`;
		const sent = { ...fields, execution_id: executionId, status: SENT, writer: ticket };
		const held = {
			holder,
			row: { ...(row ?? newRow(this.scope, key)), ...sent },
			wasOpen: row !== null && isOpenRow(row),
			isDue,
			readAt: this.ports.clock.now(),
		};
		this.held.set(key, held);
		const part: Partial<TableCall> = row
			? { changes: [{ where: asSeen(row), set: sent }] }
			: { inserts: [held.row], ifMissing: this.deferred.delete(key) };
		return await this.contend(key, held, part);
	}

	/** Reserves a row that was reserved ahead, or whose request got no response. */
	private async reserveAgain(key: string, held: Held): Promise<boolean> {
		if (!held.isDue) {
			held.isDue = true;
			if (this.ports.clock.now() - held.readAt < LATE_MS) return true;
		} else held.wasOpen = true;
		// Meanwhile a user may have entered the ID, or deleted the row.
		return await this.contend(key, held, {});
	}

	/**
	 * Ends the reservation of a request without a generation. The row is deleted if the request was certainly not charged.
	 * Otherwise, or if it was open before, the row is marked as abandoned, so that other executions need not wait.
	 */
	release(key: string, holder: object, mayBeCharged = false): void {
		const held = this.held.get(key);
		if (held?.holder !== holder) return;
		this.held.delete(key);
		const { row, wasOpen, isDue } = held;
		const isOpen = wasOpen || (mayBeCharged && isDue);
		// A user may have entered an id into the row. Such a row is kept.
		const where = all(['writer', row.writer], ['generation_id', '']);
		const set = isOpen ? { writer: '', status: SENT } : null;
		const changes = [{ where, set, final: true }];
		void this.table.keep(async () => await this.table.run({ changes }));
		if (!isOpen) this.view.dropped.add(row.writer);
		this.view.rows.set(key, set ? ({ ...row, ...set } as Row) : null);
	}

	/** Writes the id of a created generation. Callers need not wait for it: `close` does. */
	made(key: string, holder: object, { id, status }: KnownGeneration): void {
		const held = this.held.get(key);
		if (held?.holder !== holder) return;
		this.held.delete(key);
		const set = { generation_id: id, status: status ?? 'pending' };
		const row = held.row as Row;
		this.table.began(id);
		this.view.rows.set(key, { ...row, generation_id: id, status: 'pending' });
		const arrival = this.table.keep(async () => await this.table.writeId(row, set));
		this.arriving.set(key, arrival);
		void arrival.then((error) => {
			if (error !== null) this.unrecorded.set(key, { ...row, ...set });
			if (this.arriving.get(key) === arrival) this.arriving.delete(key);
		});
	}

	/** Stores a final status. */
	ended(key: string, { id, status }: { id: string; status: string }): void {
		const row = this.view.rows.get(key);
		// Another item with the same key may have a newer generation. A key that was not read yet has none in this step.
		if (row !== undefined && (row?.generation_id !== id || row.status === status)) return;
		// The id is written first.
		void Promise.resolve(this.arriving.get(key)).then(() => {
			this.table.end(status, id);
			const missing = this.unrecorded.get(key);
			if (missing?.generation_id === id) this.unrecorded.set(key, { ...missing, status });
		});
		if (status === 'failed') this.view.fail(key, id);
		else if (row) this.view.rows.set(key, { ...row, status });
	}

	/** Finishes all writes. Never throws. */
	async close(): Promise<void> {
		this.closing.abort();
		await Promise.all(this.arriving.values());
		await this.table.settled();
		await this.table.flush();
	}

	/** Writes and reads a reserved key until its row is the only one, or another row comes first. */
	private async contend(key: string, held: Held, part: Partial<TableCall>): Promise<boolean> {
		const { clock } = this.ports;
		const { holder, wasOpen } = held;
		const { writer } = held.row;
		for (let round = 0; ; round++) {
			const answer = await this.orUnavailable(
				async () => await this.table.run({ ...(round === 0 && part), keys: [key] }),
				() => this.release(key, holder),
			);
			const seen = this.view.rowsOf(key, answer);
			const own = seen.find((row) => row.writer === writer);
			const rivals = seen.filter(
				(row) =>
					isLive(row) && (hasId(row) || (row.writer !== writer && isOpenRow(row) && !wasOpen)),
			);
			const ageMs = clock.now() - answer.from;
			// After a pause of the process, the first request may have its id by now.
			if (wasOpen && ageMs >= STALE_MS && round === 0) continue;
			const isLate = ageMs >= LATE_MS;
			if (own && rivals.length === 0 && !isLate) {
				held.row = own;
				held.readAt = answer.from;
				return true;
			}
			const isFirst = own && rivals.every((row) => !hasId(row) && row.id > own.id);
			if (!isFirst || isLate || round === MOST_ROUNDS) {
				if (own ? hasId(own) : rivals.length > 0) this.held.delete(key);
				else this.release(key, holder);
				this.view.observe(key, answer);
				if (isLate || (!own && rivals.length === 0)) this.missed(key, held.row.id);
				return false;
			}
			// The other executions delete their rows, or have sent their requests.
			await clock.sleep(SETTLE_MS);
		}
	}

	private async isAbandoned(row: Row): Promise<boolean> {
		const verdict = await checkWriter(row, this.view, this.table);
		if (verdict === 'no effect') this.missed(row.key, row.id);
		return verdict === 'dead';
	}

	/** @throws GenerationError `record_unavailable` if writes of the key keep having no effect */
	private missed(key: string, id?: number): void {
		const misses = (this.misses.get(key) ?? 0) + 1;
		this.misses.set(key, misses);
		if (misses < MOST_MISSES) return;
		this.view.rows.delete(key);
		throw tableTrouble(id);
	}

	private async refresh(keys: string[]): Promise<void> {
		const answer = await this.table.run({ keys });
		keys.forEach((key) => this.view.observe(key, answer));
	}

	/** @throws CancelledError once the execution has ended, else GenerationError `record_unavailable` */
	private async orUnavailable<T>(task: () => Promise<T>, onError = () => {}): Promise<T> {
		const done = await attempt(task);
		if (done.ok) return done.value;
		onError();
		throw this.ports.signal.aborted ? new CancelledError() : unavailable(done.error);
	}

	/** Proves that the requests in flight are alive, and reads the rows that other executions are sending. */
	private async beat(): Promise<void> {
		const { signal } = this.closing;
		const mine: Condition = ['writer', `${this.scope.writer}/`, 'begins with'];
		const where = all(mine, ['status', SENT, 'begins with']);
		for (;;) {
			await this.ports.clock.sleep(BEAT_MS, signal);
			if (signal.aborted) return;
			if (this.held.size > 0) void this.table.beat({ where, set: { status: SENT }, final: true });
			// Their silence is measured before an item waits for them.
			const { watched } = this.view;
			if (watched.length === 0) void this.table.flush();
			else void attempt(async () => await this.refresh(watched));
		}
	}
}
