import { attempt, type Attempt, batched } from '../async';
import type { Clock } from '../ports';
import { fieldsOf, says, SENT, type RecordScope } from './record-rows';
import {
	UnansweredError,
	type Change,
	type Condition,
	type RecordFields,
	type RecordRow,
	type RecordStore,
	type Where,
} from './record-store';

/** Pauses between the attempts of a write that must not be lost. */
const PAUSES_MS = [1_000, 3_000];
const MOST_IN_ONE = 200;

export interface DeskPorts {
	store: RecordStore;
	clock: Clock;
	/** Aborts when the execution ends. Ends waits for other executions, and pauses between attempts. */
	signal: AbortSignal;
}

/**
 * Reads and writes the table rows of one step. Calls made at the same time are combined into one batch. Critical
 * writes are retried, and run in the background.
 */
export class RecordDesk {
	private readonly pending = new Set<Promise<unknown>>();
	/** Settles when the running write of ids is done. */
	private writingIds: Promise<unknown> = Promise.resolve();

	constructor(
		private readonly scope: RecordScope,
		private readonly ports: DeskPorts,
	) {}

	/** Reads the rows of a key that belong to this workflow and node. */
	readonly read = batched(async (keys: string[]) => {
		const byKey = new Map(keys.map((key): [string, RecordRow[]] => [key, []]));
		const { workflowId, nodeId } = this.scope;
		for (const row of await this.ports.store.read([...byKey.keys()])) {
			const own = row.workflow_id === workflowId && row.node_id === nodeId;
			if (own) byKey.get(row.key)?.push(row);
		}
		return keys.map((key) => byKey.get(key) ?? []);
	});

	/** Applies a change. Resolves to true if a row matched. */
	readonly write = batched(async (changes: Change[]) => {
		const hits = await this.ports.store.change(changes);
		return hits.map((ids) => ids.length > 0);
	});

	/**
	 * Marks our own claims as sent, matched by their tickets. Resolves to `false` if the row is gone.
	 *
	 * One statement costs the same for one row as for many. These calls therefore wait for a running write of ids,
	 * and then go as one batch.
	 */
	readonly sendOwn = batched(
		async (claims: RecordRow[]) => {
			const set = { status: SENT, execution_id: this.scope.executionId };
			const changes = chunks(claims).map((some): Change => ({ where: byTickets(some), set }));
			const hits = new Set((await this.ports.store.change(changes)).flat());
			return claims.map(({ id }) => hits.has(id));
		},
		async () => await this.writingIds,
	);

	/**
	 * Makes a row ours and marks it as sent. Resolves to true if the row still matched.
	 *
	 * @param about fields of the request to write into the row
	 */
	async take(row: RecordRow, ticket: string, about: Partial<RecordFields>): Promise<boolean> {
		if (row.writer === ticket && says(row, about)) return await this.sendOwn(row);
		const { executionId } = this.scope;
		const set = { ...about, writer: ticket, execution_id: executionId, status: SENT };
		return await this.write({ where: asSeen(row), set });
	}

	/** Writes generation ids. `sendOwn` waits for this. Resolves to true if a row matched. */
	readonly writeId = batched(async (changes: Change[]) => {
		const written = this.ports.store.change(changes);
		this.writingIds = written.catch(() => undefined);
		return (await written).map((ids) => ids.length > 0);
	});

	readonly insert = batched(async (rows: RecordFields[]) => {
		await this.ports.store.insert(rows);
		return rows.map(() => undefined);
	});

	/**
	 * Deletes rows that have not changed since they were read.
	 *
	 * @returns the ids of the deleted rows
	 */
	async remove(rows: RecordRow[]): Promise<Set<number>> {
		if (rows.length === 0) return new Set();
		return new Set((await this.ports.store.remove(rows.map(asSeen))).flat());
	}

	/** Writes the same final status for several generations. */
	async writeEnds(status: string, generationIds: string[]): Promise<void> {
		for (const some of chunks(generationIds)) {
			const conditions = some.map((id): Condition => ['generation_id', id]);
			await this.write({ where: { match: 'any', conditions }, set: { status }, final: true });
		}
	}

	/**
	 * Writes the id of a created generation into its row. Inserts a new row if that row is gone or in use, so that
	 * every generation has a row.
	 */
	async putOnRecord(row: RecordRow, set: Partial<RecordFields>): Promise<void> {
		if (await this.writeId({ where: asSeen(row), set, final: true })) return;
		const rows = await this.read(row.key);
		// An attempt that reported an error has written the id anyway.
		if (rows.some((one) => one.generation_id === set.generation_id)) return;
		// Another execution marked our row as abandoned.
		const left = rows.find(
			({ id, writer, status }) => id === row.id && writer === '' && status === SENT,
		);
		if (left && (await this.writeId({ where: asSeen(left), set, final: true }))) return;
		// The row was deleted, or another request was sent for it.
		await this.insert(fieldsOf({ ...row, ...set }));
	}

	/**
	 * Retries a write that must not be lost. An `UnansweredError` is not retried, because the change is carried out
	 * anyway. Never throws.
	 */
	async keep<T>(run: () => Promise<T>): Promise<Attempt<T>> {
		for (const pause of PAUSES_MS) {
			const tried = await attempt(run);
			if (tried.ok || tried.error instanceof UnansweredError) return tried;
			await this.ports.clock.sleep(pause, this.ports.signal);
		}
		return await attempt(run);
	}

	/** Runs a write that continues after the step has ended. `settled` waits for it. */
	async background(run: () => Promise<void>): Promise<void> {
		const task = run();
		this.pending.add(task);
		await task.finally(() => this.pending.delete(task));
	}

	/** Resolves when no background write is running. */
	async settled(): Promise<void> {
		await Promise.all(this.pending);
	}
}

/** Matches a row only while it is unchanged. The id alone is not enough, because ids are reused. */
export function asSeen(row: RecordRow): Where {
	const marks = ['id', 'writer', 'status', 'generation_id'] as const;
	return all(...marks.map((mark): Condition => [mark, row[mark]]));
}

/** Matches rows that meet every condition. */
export function all(...conditions: Condition[]): Where {
	return { match: 'all', conditions };
}

function byTickets(rows: RecordRow[]): Where {
	return { match: 'any', conditions: rows.map(({ writer }): Condition => ['writer', writer]) };
}

function chunks<T>(list: T[]): T[][] {
	const count = Math.ceil(list.length / MOST_IN_ONE);
	return Array.from({ length: count }, (_, index) =>
		list.slice(index * MOST_IN_ONE, (index + 1) * MOST_IN_ONE),
	);
}
