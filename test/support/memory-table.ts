import type { Clock } from '../../client/basics/ports';
import type { RecordFields, RecordRow, RecordStore, Where } from '../../client/paying/record-store';

/** What becomes of one call of the table. */
export interface TableFate {
	/** Until the table does it, and from then until the answer is there. */
	beforeMs: number;
	afterMs: number;
	/** It is refused, or done without an answer coming back. */
	fails?: 'before' | 'after';
}

export const prompt: TableFate = { beforeMs: 20, afterMs: 20 };

/** A table in memory, as slow, as unreliable and as concurrent as a database. */
export class MemoryTable {
	readonly rows: RecordRow[] = [];
	private nextId = 1;

	/** @param reusesIds as SQLite does once the newest row is gone; else ids are taken before a row can be seen, as by PostgreSQL */
	constructor(
		private readonly clock: Clock,
		private readonly reusesIds = false,
	) {}

	/** The table as one process reaches it. @param fateOf each of its calls, with the name of the method */
	reachedBy(clock: Clock, fateOf: (method: keyof RecordStore) => TableFate): RecordStore {
		const call = async <T>(method: keyof RecordStore, work: () => T): Promise<T> => {
			const { beforeMs, afterMs, fails } = fateOf(method);
			await clock.sleep(beforeMs);
			if (fails === 'before') throw new Error('the table is out of reach');
			const result = work();
			await clock.sleep(afterMs);
			if (fails === 'after') throw new Error('the answer of the table was lost');
			return result;
		};
		return {
			read: async (keys) => {
				const wanted = new Set(keys);
				return await call('read', () =>
					this.rows.filter(({ key }) => wanted.has(key)).map((row) => ({ ...row })),
				);
			},
			insert: async (rows) => {
				const ids = rows.map(() => this.nextId++);
				await call('insert', () => rows.forEach((row, index) => this.add(row, ids[index])));
			},
			change: async (changes) =>
				await call('change', () =>
					changes.map(({ where, set }) => {
						const hit = this.matching(where);
						for (const row of hit) Object.assign(row, set, { changedAt: this.clock.now() });
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

	private add(fields: RecordFields, taken: number): void {
		const id = this.reusesIds ? Math.max(0, ...this.rows.map((row) => row.id)) + 1 : taken;
		const now = this.clock.now();
		this.rows.push({ ...fields, id, born: String(now), changedAt: now });
	}

	private matching({ match, conditions }: Where): RecordRow[] {
		const tests = conditions.map(([column, value, how = 'is']) =>
			how === 'is'
				? (row: RecordRow) => row[column] === value
				: (row: RecordRow) => String(row[column]).startsWith(String(value)),
		);
		const fits = match === 'all' ? tests.every.bind(tests) : tests.some.bind(tests);
		return this.rows.filter((row) => fits((test) => test(row)));
	}
}
