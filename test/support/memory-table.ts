import type { Clock } from '../../client/ports';
import { TABLE_COLUMNS, type Row, type RowFields } from '../../client/jobs/row';
import {
	claimsOf,
	type CallTable,
	type Change,
	type TableCall,
	type Where,
} from '../../client/orders/table';

/** The latency and the failure of one table call. */
export interface TableFate {
	/** Latency before and after the call takes effect. */
	beforeMs: number;
	afterMs: number;
	/** `before`: the call fails without an effect. `after`: it takes effect, but the response is lost. */
	fails?: 'before' | 'after';
	/**
	 * When this signal aborts, a call in progress takes effect immediately, or not at all if `isDropped`. Its response is
	 * lost.
	 */
	cut?: AbortSignal;
	isDropped?: boolean;
}

export const prompt: TableFate = { beforeMs: 20, afterMs: 20 };

/** An in-memory table that is as slow, unreliable and concurrent as a database. `null` equals an empty string. */
export class MemoryTable {
	readonly rows: Row[] = [];
	/** When each generation id was first written to the table, by the table's clock. */
	readonly recordedAt = new Map<string, number>();
	private nextId = 1;

	/**
	 * @param reusesIds true to reuse the id of the newest row after it is deleted, as SQLite does; false to assign ids
	 *   before a row becomes visible, as PostgreSQL does
	 */
	constructor(
		private readonly clock: Clock,
		private readonly reusesIds = false,
	) {}

	/**
	 * Returns the table as one process accesses it.
	 *
	 * @param fateOf returns the latency and the failure of each call
	 */
	reachedBy(clock: Clock, fateOf: (call: TableCall) => TableFate): CallTable {
		return async (call) => {
			const { beforeMs, afterMs, fails, cut, isDropped } = fateOf(call);
			const ids = [...call.inserts, ...call.made].map(() => this.nextId++);
			await clock.sleep(beforeMs, cut);
			const dropped = cut?.aborted && isDropped;
			if (fails === 'before' || dropped) throw new Error('the table is out of reach');
			this.carryOut(call, ids, clock);
			const { keys } = call;
			const rows = this.rows.filter(({ key }) => keys.includes(key)).map(asRead);
			await clock.sleep(afterMs, cut);
			if (fails === 'after' || cut?.aborted) throw new Error('the answer of the table was lost');
			return rows;
		};
	}

	private carryOut(call: TableCall, ids: number[], clock: Clock): void {
		const { changes, isRepeated, made } = call;
		const inserts = [...call.inserts, ...made];
		for (const change of changes) this.change(change, clock);
		const isThere = (row: RowFields) => isRepeated && this.rows.some((one) => isTwin(one, row));
		const missing = inserts.map((row) => !isThere(row));
		inserts.forEach((row, index) => missing[index] && this.add(row, ids[index]));
		this.change({ where: claimsOf(made), set: null }, clock);
	}

	private change({ where, set }: Change, clock: Clock): void {
		for (const row of this.matching(where)) {
			if (set) this.set(row, set, clock);
			else this.rows.splice(this.rows.indexOf(row), 1);
		}
	}

	/** Adds a copy of a row, as a user can do by hand. */
	copy(row: Row): void {
		this.add(row, this.nextId++);
	}

	/** Changes a row, as a user can do by hand. */
	edit(row: Row, cells: Partial<RowFields>): void {
		this.set(row, cells, this.clock);
	}

	private set(row: Row, cells: Partial<RowFields>, clock: Clock): void {
		Object.assign(row, cells, { changedAt: clock.now() });
		this.note(row);
	}

	private note({ generation_id: written }: Row): void {
		const id = written?.trim();
		if (id && !this.recordedAt.has(id)) this.recordedAt.set(id, this.clock.now());
	}

	private add(fields: RowFields, taken: number): void {
		const id = this.reusesIds ? Math.max(0, ...this.rows.map((row) => row.id)) + 1 : taken;
		const now = this.clock.now();
		const row = { ...fields, id, changedAt: now };
		this.rows.push(row);
		this.note(row);
	}

	private matching({ match, conditions }: Where): Row[] {
		const tests = conditions.map(
			([column, value]) =>
				(row: Row) =>
					(row[column] ?? '') === value,
		);
		const fits = match === 'all' ? tests.every.bind(tests) : tests.some.bind(tests);
		return this.rows.filter((row) => fits((test) => test(row)));
	}
}

/** As n8n's Data Table node looks for a row before it inserts one again. */
function isTwin(one: Row, other: RowFields): boolean {
	return one.writer === other.writer && (one.generation_id ?? '') === other.generation_id;
}

/**
 * Returns a row as `nodes/shared/record/data-table.ts` reads it: NULL becomes an empty string, and the generation id is
 * trimmed.
 */
function asRead(row: Row): Row {
	const read = { ...row };
	for (const name of TABLE_COLUMNS) read[name] ??= '';
	read.generation_id = read.generation_id.trim();
	return read;
}
