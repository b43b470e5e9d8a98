import { attempt } from '../async';
import type { Random } from '../ports';
import { CancelledError, type KnownGeneration } from '../api/errors';
import { Claims } from './claims';
import { orderName } from './order-name';
import { all, RecordDesk, type DeskPorts } from './record-desk';
import { RecordEnds } from './record-ends';
import { hasId, isFree, sameState, CLAIMED, SENT, type RecordScope } from './record-rows';
import {
	stillSending,
	unavailable,
	UnansweredError,
	type RecordFields,
	type RecordRow,
} from './record-store';

/** Interval of the heartbeat while requests are in flight. */
const BEAT_MS = 15_000;
/** Interval between reads while another item or execution is sending the request of a key. */
const LOOK_MS = 1_000;
/**
 * If a write takes longer than this, the row may belong to another execution: a row counts as abandoned after a minute.
 */
const LATE_MS = 40_000;
/** Minimum wait for another execution's request: long enough to detect that its writer is dead. */
const SHORTEST_WAIT_MS = 90_000;

export interface RecordPorts extends DeskPorts {
	random: Random;
}

/** The stored state of a key. */
export interface Found {
	/**
	 * `free`: no request was sent. `made`: a generation exists. `open`: a request was sent, its result is unknown,
	 * and its writer is gone.
	 */
	state: 'free' | 'made' | 'open';
	row: RecordRow;
}

/** A request of this step that is in flight. */
interface UnderWay {
	holder: object;
	/** The row as written for this request. */
	row: RecordRow;
	/** True if the row was open before this request. It then stays open, even if this request is rejected. */
	wasOpen: boolean;
	/** Wakes the items of this step that wait for the result. */
	over: AbortController;
	/** Set while the claim is being given back. */
	leaving?: Promise<void>;
}

/**
 * The record outside of the execution, which outlives it. One row is one generation.
 *
 * At most one request per key is sent, even if several executions use the key. Two rules ensure that:
 *
 * 1. A row is changed only by compare-and-set. Its writer is a unique ticket that changes with every new owner.
 *
 * 2. Two executions may claim a key at the same moment. An execution that reads several claims removes the surplus,
 * and sends only when one is left. The later of the two always sees both claims.
 *
 * A claim reserves nothing: the first item or execution that is ready may send it.
 */
export class GenerationRecord {
	/** Keys whose generation could not be written to the table. */
	readonly unrecorded = new Set<string>();
	private readonly underWay = new Map<string, UnderWay>();
	/** Keys whose id is known and is being written to the table. */
	private readonly arriving = new Set<string>();
	private readonly desk: RecordDesk;
	private readonly claims: Claims;
	private readonly ends: RecordEnds;
	private readonly closing = new AbortController();

	constructor(
		private readonly scope: RecordScope,
		private readonly ports: RecordPorts,
	) {
		this.desk = new RecordDesk(scope, ports);
		const isAhead = (key: string) => this.underWay.has(key) || this.arriving.has(key);
		this.claims = new Claims(scope, this.desk, ports, isAhead);
		this.ends = new RecordEnds(this.desk, this.unrecorded);
		void this.beat();
	}

	/**
	 * Reads all keys of a step in one batch, and claims the missing ones.
	 *
	 * @param drafts row fields that are known before the requests are built, by key
	 * @throws GenerationError `record_unavailable`
	 */
	async begin(keys: string[], drafts = new Map<string, Partial<RecordFields>>()): Promise<void> {
		drafts.forEach((draft, key) => this.claims.drafts.set(key, draft));
		const claimed = await attempt(async () => await this.claims.claim([...new Set(keys)]));
		// After a cancellation nothing is sent, so the claims are not needed.
		if (!claimed.ok && !this.ports.signal.aborted) throw unavailable(claimed.error);
	}

	/**
	 * Returns the stored state of a key. If a request for it is in flight, waits for the result.
	 *
	 * @param timeoutMs maximum wait, in milliseconds; at least `SHORTEST_WAIT_MS`
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async find(key: string, signal = this.ports.signal, timeoutMs = Infinity): Promise<Found> {
		const { clock } = this.ports;
		const deadline = clock.now() + Math.max(timeoutMs, SHORTEST_WAIT_MS);
		for (let looks = 0; ; ) {
			await this.ends.failureOf(key);
			if (signal.aborted) throw new CancelledError();
			const row = this.claims.rows.get(key);
			const own = this.underWay.get(key);
			if (!own && row && hasId(row)) return { state: 'made', row };
			if (!own && row && isFree(row)) return { state: 'free', row };
			// An old read proves nothing: only a fresh one shows whether the writer is alive.
			if (!own && row && looks > 0 && (await this.claims.isAbandoned(row))) {
				return { state: 'open', row: this.claims.rows.get(key) ?? row };
			}
			if (row && clock.now() >= deadline) throw stillSending(row);
			if (own) await clock.sleep(LOOK_MS, own.over.signal);
			else if (!row) await this.ask(async () => await this.claims.claim([key]));
			else {
				if (looks++ > 0) await clock.sleep(LOOK_MS, signal);
				await this.ask(async () => await this.claims.refresh([key]));
			}
		}
	}

	/**
	 * Marks the row of a key as sent, right before the creating request. After `true`, no other item or execution
	 * sends it.
	 *
	 * @param holder the sender; several items of a step may have the same key
	 * @param open the open row from `find`, if it may be sent again
	 * @param about fields of the request to write into the row
	 * @returns `false` if another sender was faster; `find` then returns the result
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async send(
		key: string,
		holder: object,
		open?: RecordRow,
		about: Partial<RecordFields> = {},
	): Promise<boolean> {
		if (this.ports.signal.aborted) throw new CancelledError();
		const before = this.underWay.get(key);
		if (before) {
			await before.leaving;
			return !before.leaving && before.holder === holder;
		}
		const row = this.claims.rows.get(key);
		if (!row || hasId(row)) return false;
		if (!isFree(row) && !(open && sameState(row, open))) return false;
		const ticket = this.claims.isOwn(row) && isFree(row) ? row.writer : this.claims.ticket();
		const sent = { ...row, ...about, status: SENT, writer: ticket };
		const own = { holder, row: sent, wasOpen: !isFree(row), over: new AbortController() };
		this.underWay.set(key, own);
		const from = this.ports.clock.now();
		const taken = await attempt(async () => await this.desk.take(row, ticket, about));
		if (taken.ok && !taken.value) {
			this.settle(key);
			this.claims.missed(row);
			return false;
		}
		if (taken.ok && this.ports.clock.now() - from >= LATE_MS) {
			// While the process was paused, another execution may have taken the row.
			const returned = this.withdraw(key, holder);
			this.claims.missed(row);
			await returned;
			return false;
		}
		this.claims.rows.set(key, sent);
		if (taken.ok) return true;
		// The table may have applied the change although the call failed.
		void this.withdraw(key, holder);
		throw this.failure(taken.error);
	}

	/** True if a request of this holder is in flight. */
	isHeldBy(key: string, holder: object): boolean {
		const own = this.underWay.get(key);
		return own?.holder === holder && !own.leaving;
	}

	/** Frees the claim of a request that was certainly not charged. A row that was open before stays open. */
	async withdraw(key: string, holder: object): Promise<void> {
		if (!this.isHeldBy(key, holder)) return;
		if (this.underWay.get(key)?.wasOpen) return await this.giveBack(key, { writer: '' });
		await this.giveBack(key, { status: CLAIMED, writer: this.claims.ticket() });
	}

	/** Marks the row as abandoned: the result of the request is unknown, and this step stops waiting for it. */
	async leave(key: string, holder: object): Promise<void> {
		if (this.isHeldBy(key, holder)) await this.giveBack(key, { writer: '' });
	}

	/** Stores the id of a created generation. Callers need not wait for it: `close` does. Never rejects. */
	async made(key: string, { id, status }: KnownGeneration): Promise<void> {
		const row = this.underWay.get(key)?.row;
		if (!row) return;
		const set = { generation_id: id, status: status ?? 'pending' };
		this.claims.rows.set(key, { ...row, ...set });
		this.arriving.add(key);
		this.settle(key);
		await this.desk.background(async () => {
			const kept = await this.desk.keep(async () => await this.desk.putOnRecord(row, set));
			if (!kept.ok && !(kept.error instanceof UnansweredError)) this.unrecorded.add(key);
			this.arriving.delete(key);
		});
	}

	/** Stores a final status. A failed generation was refunded, so `find` then claims the key again. */
	ended(key: string, { id, status }: { id: string; status: string }): void {
		const row = this.claims.rows.get(key);
		// An item with the same key may have a newer generation.
		if (row?.generation_id !== id) return;
		if (status === 'failed') {
			this.claims.rows.delete(key);
			this.claims.failed.add(id);
			this.ends.fail(row);
		} else if (row.status !== status) {
			this.claims.rows.set(key, { ...row, status });
			this.ends.add(status, id);
		}
	}

	/** Returns the last known row of a key. */
	rowOf(key: string): RecordRow | undefined {
		return this.claims.rows.get(key);
	}

	/**
	 * Returns the name of a key's order.
	 *
	 * @param print from `digestOf` its request
	 */
	nameOf(key: string, print: string): string {
		const { workflowId, nodeId } = this.scope;
		return orderName([workflowId, nodeId, key], this.claims.failures.get(key) ?? 0, print);
	}

	/** Finishes all pending writes, and deletes claims that were never sent. Never throws. */
	async close(): Promise<void> {
		this.closing.abort();
		await Promise.all([this.desk.settled(), this.ends.settled()]);
		await Promise.all([
			attempt(async () => await this.ends.write()),
			attempt(async () => await this.claims.takeBack()),
		]);
	}

	/**
	 * Runs a table operation.
	 *
	 * @throws CancelledError once the execution has ended, else GenerationError `record_unavailable`
	 */
	private async ask(run: () => Promise<void>): Promise<void> {
		const asked = await attempt(run);
		if (!asked.ok) throw this.failure(asked.error);
	}

	private failure(error: unknown): unknown {
		return this.ports.signal.aborted ? new CancelledError() : unavailable(error);
	}

	private async giveBack(key: string, set: Partial<RecordFields>): Promise<void> {
		const own = this.underWay.get(key);
		if (!own) return;
		const { row } = own;
		own.leaving ??= this.desk.background(async () => {
			// The status is not compared: the table may not have the row as sent yet. The ticket is unique.
			const where = all(['id', row.id], ['writer', row.writer]);
			const given = await this.desk.keep(
				async () => await this.desk.write({ where, set, final: true }),
			);
			if (given.ok && !given.value) this.claims.rows.delete(key);
			else this.claims.rows.set(key, { ...row, ...set });
			this.settle(key);
		});
		await own.leaving;
	}

	private settle(key: string): void {
		const own = this.underWay.get(key);
		this.underWay.delete(key);
		own?.over.abort();
	}

	/** Sends one heartbeat for all requests in flight, and writes pending final statuses. */
	private async beat(): Promise<void> {
		const { signal } = this.closing;
		for (;;) {
			await this.ports.clock.sleep(BEAT_MS, signal);
			if (signal.aborted) return;
			void this.desk.background(async () => await this.watchOthers());
			if (this.underWay.size > 0) {
				const where = all(this.claims.mine, ['status', SENT]);
				const set = { status: SENT };
				await attempt(async () => await this.desk.write({ where, set, final: true }));
			}
			await attempt(async () => await this.ends.write());
		}
	}

	/**
	 * Reads the rows that other executions are sending, so that their staleness timers run before an item waits for
	 * them.
	 */
	private async watchOthers(): Promise<void> {
		await attempt(async () => await this.claims.refresh(this.claims.watched));
	}
}
