import { toResult } from '../async';
import { CancelledError, type KnownGeneration } from '../api/errors';
import { BatchedTable, type TablePorts } from './batched-table';
import { KeyView } from './key-view';
import { stillSending, unavailable } from './order-errors';
import { Reservations } from './reservations';
import { asSeen, isUnresolved, type RequestFields, type Row, type TableScope } from './table';

/** Interval of the heartbeat while requests are in flight. */
const BEAT_MS = 15_000;
/** Longest pause between reads of a key whose request another execution sends. Each read is a helper workflow. */
const LONGEST_PAUSE_MS = 5_000;
/** Minimum wait for another execution's request: long enough to detect that its writer is dead. */
const SHORTEST_WAIT_MS = 90_000;

/** The rows of a step's keys in the table. */
export class KeyTable {
	readonly view: KeyView;
	/** The rows of generations that could not be written to the table, by key. */
	readonly unrecorded = new Map<string, Row>();
	readonly reservations: Reservations;
	/** Writes of ids, by key. */
	private readonly arriving = new Map<string, Promise<unknown>>();
	/** Keys that are not read before they are reserved. */
	private readonly deferred = new Set<string>();
	private readonly table: BatchedTable;
	private readonly closing = new AbortController();

	constructor(
		scope: TableScope,
		private readonly ports: TablePorts,
	) {
		const isNewerInMemory = (key: string) => this.reservations.has(key) || this.arriving.has(key);
		this.view = new KeyView(scope, ports.clock, isNewerInMemory);
		this.table = new BatchedTable(scope, ports);
		this.reservations = new Reservations(scope, ports, this.view, this.table);
		void this.beat();
	}

	/**
	 * Reads the keys of a step at once. A single key is read together with its reservation instead.
	 *
	 * @throws GenerationError `record_unavailable`
	 */
	async begin(keys: string[]): Promise<void> {
		if (keys.length === 1) return void this.deferred.add(keys[0]);
		const read = await toResult(async () => await this.refresh([...new Set(keys)]));
		// After a cancellation nothing is sent.
		if (!read.ok && !this.ports.signal.aborted) throw unavailable(read.error);
	}

	/**
	 * Returns the row that counts for a key: of a generation, a free one, or an unresolved one whose writer is gone; `null`
	 * if there is none. If another execution is sending its request, waits for the result.
	 *
	 * @param mayDefer true if `reserve` follows at once, and reads the key
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
			if (row === null || (row && !isUnresolved(row))) return row;
			if (row === undefined && mayDefer && this.deferred.has(key)) return null;
			// An old read proves nothing: only a fresh one shows whether the writer is alive.
			if (row && reads > 0 && (await this.isAbandoned(row))) return this.view.rows.get(key) ?? row;
			if (row && clock.now() >= deadline) throw stillSending(row);
			if (reads > 1) await clock.sleep(Math.min((reads - 1) * 1000, LONGEST_PAUSE_MS), signal);
			if (signal.aborted) throw new CancelledError();
			this.view.observe(key, await this.table.require({ keys: [key] }));
		}
	}

	/** As `Reservations.reserve`. */
	async reserve(
		key: string,
		holder: object,
		fields: RequestFields,
		{ resend, isSending }: { resend?: Row; isSending?: boolean } = {},
	): Promise<boolean> {
		const ifMissing = this.deferred.delete(key);
		return await this.reservations.reserve(key, holder, fields, { resend, isSending, ifMissing });
	}

	/** Writes the id of a created generation. Callers need not wait for it: `close` does. */
	made(key: string, holder: object, { id, status }: KnownGeneration): void {
		const row = this.reservations.take(key, holder);
		if (row === null) return;
		const set = { generation_id: id, status: status ?? 'pending' };
		this.table.running.add(id);
		// `ended` stores a final status, in the view too.
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
		await this.table.close();
	}

	/**
	 * True if the writer of an unresolved row is dead. Its name is then removed from the row, so that other executions need
	 * not wait as well. If it may be dead, the row is marked with how long it has been silent.
	 */
	private async isAbandoned(row: Row): Promise<boolean> {
		const { view, table } = this;
		const next = view.verdictOn(row);
		if (next === 'wait') return false;
		if (next === 'abandoned') return true;
		const final = next.writer === '';
		const changes = [{ where: asSeen(row), set: next, final }];
		const written = await toResult(async () => await table.run({ changes, keys: [row.key] }));
		if (!written.ok) return final;
		view.observe(row.key, written.value);
		const now = view.rows.get(row.key);
		if (now?.id === row.id && isUnresolved(now) && now.writer === '') return true;
		if (now?.writer === row.writer && now.status === row.status) view.missed(row.key, row.id);
		return false;
	}

	private async refresh(keys: string[]): Promise<void> {
		const answer = await this.table.run({ keys });
		keys.forEach((key) => this.view.observe(key, answer));
	}

	/** Sends the heartbeat. Reads the unresolved rows of other executions again, or writes the queued final statuses. */
	private async beat(): Promise<void> {
		const { signal } = this.closing;
		for (;;) {
			await this.ports.clock.sleep(BEAT_MS, signal);
			if (signal.aborted) return;
			this.reservations.beat();
			// The silence of other executions is measured before an item waits for them.
			const { watched } = this.view;
			if (watched.length === 0) void this.table.flush();
			else void toResult(async () => await this.refresh(watched));
		}
	}
}
