import type { Clock } from '../../client/ports';
import {
	RECORD_COLUMNS,
	type RecordFields,
	type RecordRow,
	type RecordStore,
	type Where,
} from '../../client/paying/record-store';

/** What becomes of one call of the table. */
export interface TableFate {
	/** Until the table does it, and from then until the answer is there. */
	beforeMs: number;
	afterMs: number;
	/** It is refused, or done without an answer coming back. */
	fails?: 'before' | 'after';
	/** When it aborts, a call under way is carried out at once, or dropped. Its answer does not come. */
	cut?: AbortSignal;
	isDropped?: boolean;
}

export const prompt: TableFate = { beforeMs: 20, afterMs: 20 };

/** A table in memory, as slow, as unreliable and as concurrent as a database. A cell may be `null`, which is an empty text. */
export class MemoryTable {
	readonly rows: RecordRow[] = [];
	/** When each id of a generation came into the table, by the table's clock. */
	readonly recordedAt = new Map<string, number>();
	private nextId = 1;

	/**
	 * @param reusesIds as SQLite does once the newest row is gone; else ids are taken before a row can be seen, as by PostgreSQL
	 * @param findsNull whether a condition of an empty text finds NULL
	 */
	constructor(
		private readonly clock: Clock,
		private readonly reusesIds = false,
		private readonly findsNull = true,
	) {}

	/** The table as one process reaches it. @param fateOf each of its calls, with the name of the method */
	reachedBy(clock: Clock, fateOf: (method: keyof RecordStore) => TableFate): RecordStore {
		const call = async <T>(method: keyof RecordStore, work: () => T): Promise<T> => {
			const { beforeMs, afterMs, fails, cut, isDropped } = fateOf(method);
			await clock.sleep(beforeMs, cut);
			const dropped = cut?.aborted && isDropped;
			if (fails === 'before' || dropped) throw new Error('the table is out of reach');
			const result = work();
			await clock.sleep(afterMs, cut);
			if (fails === 'after' || cut?.aborted) throw new Error('the answer of the table was lost');
			return result;
		};
		return {
			read: async (keys) => {
				const wanted = new Set(keys);
				return await call('read', () => this.rows.filter(({ key }) => wanted.has(key)).map(asRead));
			},
			insert: async (rows) => {
				const ids = rows.map(() => this.nextId++);
				await call('insert', () => rows.forEach((row, index) => this.add(row, ids[index])));
			},
			change: async (changes) =>
				await call('change', () =>
					changes.map(({ where, set }) => {
						const hit = this.matching(where);
						for (const row of hit) this.set(row, set, clock);
						return hit.map(({ id }) => id);
					}),
				),
			remove: async (wheres) =>
				await call('remove', () =>
					wheres.map((where) => {
						const hit = this.matching(where);
						for (const row of hit) this.rows.splice(this.rows.indexOf(row), 1);
						return hit.map(({ id }) => id);
					}),
				),
		};
	}

	/** Adds a row with the same cells, as a user does. */
	copy(row: RecordRow): void {
		this.add(row, this.nextId++);
	}

	/** Changes a row by hand. */
	edit(row: RecordRow, cells: Partial<RecordFields>): void {
		this.set(row, cells, this.clock);
	}

	private set(row: RecordRow, cells: Partial<RecordFields>, clock: Clock): void {
		Object.assign(row, cells, { changedAt: clock.now() });
		this.note(row);
	}

	private note({ generation_id: written }: RecordRow): void {
		const id = written?.trim();
		if (id && !this.recordedAt.has(id)) this.recordedAt.set(id, this.clock.now());
	}

	private add(fields: RecordFields, taken: number): void {
		const id = this.reusesIds ? Math.max(0, ...this.rows.map((row) => row.id)) + 1 : taken;
		const now = this.clock.now();
		const row = { ...fields, id, changedAt: now };
		this.rows.push(row);
		this.note(row);
	}

	private matching({ match, conditions }: Where): RecordRow[] {
		const tests = conditions.map(([column, value, how = 'is']) =>
			how === 'is'
				? (row: RecordRow) => (row[column] ?? (this.findsNull ? '' : null)) === value
				: (row: RecordRow) => String(row[column] ?? '').startsWith(String(value)),
		);
		const fits = match === 'all' ? tests.every.bind(tests) : tests.some.bind(tests);
		return this.rows.filter((row) => fits((test) => test(row)));
	}
}

/** A row as `nodes/shared/record/data-table.ts` reads it: NULL is an empty text, and an id has no blanks around it. */
function asRead(row: RecordRow): RecordRow {
	const read = { ...row };
	for (const name of RECORD_COLUMNS) read[name] ??= '';
	read.generation_id = read.generation_id.trim();
	return read;
}
