import { toResult } from '../async';
import { CancelledError } from '../api/errors';
import type { BatchedTable, TablePorts } from './batched-table';
import type { KeyView } from './key-view';
import {
	all,
	asSeen,
	hasId,
	isFree,
	isLive,
	isUnresolved,
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

/** A reservation with an older read is given up. The gap to `GONE_AFTER_MS` (key-view.ts) leaves time for a heartbeat. */
const MAX_READ_AGE_MS = 40_000;
/** A read that is older than this is repeated before a request that was reserved ahead, or is resubmitted. */
const STALE_MS = 5_000;
/** Pause before a key with several new rows is read again, and the maximum number of such reads. */
const SETTLE_MS = 300;
const MOST_ROUNDS = 10;

/** A reserved row. */
interface Held {
	holder: object;
	row: RowFields & Partial<Row>;
	/** True if the row may already have been charged. It then stays unresolved, even if this request is rejected. */
	wasUnresolved: boolean;
	/** True if its request may be in flight. False while the row is only reserved ahead. */
	isSending: boolean;
	/** When the row was last read as the only one of its key. */
	readAt: number;
}

/**
 * `resend`: the unresolved row from `KeyTable.find`, if it may be sent again. `isSending`: false to reserve ahead, before
 * another call for the same holder. `ifMissing`: true if the key was not read before.
 */
type ReserveOptions = { resend?: Row; isSending?: boolean; ifMissing?: boolean };

/**
 * The rows that this step has reserved: at most one request per key is sent, even if several executions use the key.
 *
 * A new row is inserted as sent, and the key is then read. The request leaves only if no other row is there. Of two
 * executions, the one that reads later sees both rows, and the newer row is deleted. An existing row is changed only
 * while it is unchanged. Callers handle the orders of a key one after the other.
 */
export class Reservations {
	private readonly held = new Map<string, Held>();
	private tickets = 0;

	constructor(
		private readonly scope: TableScope,
		private readonly ports: TablePorts,
		private readonly view: KeyView,
		private readonly table: BatchedTable,
	) {}

	has(key: string): boolean {
		return this.held.has(key);
	}

	/**
	 * Writes the row of a request that is about to be sent. After `true`, no other execution sends one for the key. After
	 * `false`, another one was first, or the row has changed, and `KeyTable.find` returns the result.
	 *
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async reserve(
		key: string,
		holder: object,
		fields: RequestFields,
		{ resend, isSending = true, ifMissing = false }: ReserveOptions = {},
	): Promise<boolean> {
		if (this.ports.signal.aborted) throw new CancelledError();
		const again = this.held.get(key);
		if (again?.holder === holder) return await this.reserveAgain(key, again);
		// Two items have the same key, and this one is first.
		if (again) this.release(key, again.holder);
		const row = this.view.rows.get(key) ?? null;
		// An existing row may be sent only if it is free, or still the unresolved row that `find` returned.
		if (row && !isFree(row) && !(resend && !hasId(row) && sameState(row, resend))) return false;
		const { executionId, writer } = this.scope;
		const ticket = `${writer}/${++this.tickets}`;
		const sent = { ...fields, execution_id: executionId, status: SENT, writer: ticket };
		const held = {
			holder,
			row: { ...(row ?? newRow(this.scope, key)), ...sent },
			wasUnresolved: row !== null && isUnresolved(row),
			isSending,
			readAt: this.ports.clock.now(),
		};
		this.held.set(key, held);
		const part: Partial<TableCall> = row
			? { changes: [{ where: asSeen(row), set: sent }] }
			: { inserts: [held.row], ifMissing };
		return await this.contend(key, held, part);
	}

	/** Reserves a row that was reserved ahead, or whose request got no response. */
	private async reserveAgain(key: string, held: Held): Promise<boolean> {
		if (!held.isSending) {
			held.isSending = true;
			const ageMs = this.ports.clock.now() - held.readAt;
			// Negative if the clock was set back.
			if (ageMs >= 0 && ageMs < STALE_MS) return true;
		} else held.wasUnresolved = true;
		// Meanwhile a user may have entered the ID, or deleted the row.
		return await this.contend(key, held, {});
	}

	/**
	 * Ends a reservation without a generation. The row is deleted if it was certainly not charged. Otherwise it is marked as
	 * abandoned, so that other executions need not wait.
	 */
	release(key: string, holder: object, mayBeCharged = false): void {
		const held = this.held.get(key);
		if (held?.holder !== holder) return;
		this.held.delete(key);
		const { row, wasUnresolved, isSending } = held;
		const staysUnresolved = wasUnresolved || (mayBeCharged && isSending);
		// A user may have entered an id into the row. Such a row is kept.
		const where = all(['writer', row.writer], ['generation_id', '']);
		const set = staysUnresolved ? { writer: '', status: SENT } : null;
		const changes = [{ where, set, final: true }];
		void this.table.keep(async () => await this.table.run({ changes }));
		if (!staysUnresolved) this.view.dropped.add(row.writer);
		this.view.rows.set(key, set ? ({ ...row, ...set } as Row) : null);
	}

	/** Ends a reservation with a generation. Returns its row; `null` if the holder has none. */
	take(key: string, holder: object): Row | null {
		const held = this.held.get(key);
		if (held?.holder !== holder) return null;
		this.held.delete(key);
		return held.row as Row;
	}

	/** Proves that the requests in flight are alive. */
	beat(): void {
		if (this.held.size === 0) return;
		const mine: Condition = ['writer', `${this.scope.writer}/`, 'begins with'];
		const where = all(mine, ['status', SENT, 'begins with']);
		void this.table.beat({ where, set: { status: SENT }, final: true });
	}

	/** Writes a reserved key once, then reads it until its row is the only one, or another row wins. */
	private async contend(key: string, held: Held, part: Partial<TableCall>): Promise<boolean> {
		const { clock } = this.ports;
		const { holder, wasUnresolved } = held;
		const { writer } = held.row;
		for (let round = 0; ; round++) {
			const call = { ...(round === 0 && part), keys: [key] };
			const called = await toResult(async () => await this.table.require(call));
			if (!called.ok) {
				this.release(key, holder);
				throw called.error;
			}
			const answer = called.value;
			const seen = this.view.rowsOf(key, answer);
			const ourRow = seen.find((row) => row.writer === writer);
			const rivals = seen.filter(
				(row) =>
					isLive(row) &&
					(hasId(row) || (row.writer !== writer && isUnresolved(row) && !wasUnresolved)),
			);
			const ageMs = clock.now() - answer.readAt;
			// After a pause of the process, the first request may have its id by now.
			if (wasUnresolved && ageMs >= STALE_MS && round === 0) continue;
			const isExpired = ageMs >= MAX_READ_AGE_MS;
			if (ourRow && rivals.length === 0 && !isExpired) {
				held.row = ourRow;
				held.readAt = answer.readAt;
				return true;
			}
			const isFirst = ourRow && rivals.every((row) => !hasId(row) && row.id > ourRow.id);
			if (!isFirst || isExpired || round === MOST_ROUNDS) {
				if (ourRow ? hasId(ourRow) : rivals.length > 0) this.take(key, holder);
				else this.release(key, holder);
				this.view.observe(key, answer);
				if (isExpired || (!ourRow && rivals.length === 0)) this.view.missed(key, held.row.id);
				return false;
			}
			// The other executions delete their rows, or have sent their requests.
			await clock.sleep(SETTLE_MS);
		}
	}
}
