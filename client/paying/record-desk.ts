import { attempt, type Attempt } from '../basics/attempt';
import { gather } from '../basics/gather';
import type { Clock } from '../basics/ports';
import { fieldsOf, says, SENT, type RecordScope } from './record-rows';
import { UnansweredError } from './record-store';
import type {
	Change,
	Condition,
	RecordFields,
	RecordRow,
	RecordStore,
	Where,
} from './record-store';

/** The pauses between the tries of a write that must not be lost. */
const PAUSES_MS = [1_000, 3_000];
const MOST_IN_ONE = 200;

export interface DeskPorts {
	store: RecordStore;
	clock: Clock;
	/** Ends the waiting for others, and the pauses between tries. */
	signal: AbortSignal;
}

/**
 * How the record of one step is read and written: what is wanted at the same moment in one go, and what must not be
 * lost again and in the background.
 */
export class RecordDesk {
	private readonly pending = new Set<Promise<unknown>>();
	/** Until the ids that are being written are there. */
	private writingIds: Promise<unknown> = Promise.resolve();

	constructor(
		private readonly scope: RecordScope,
		private readonly ports: DeskPorts,
	) {}

	/** The rows of a key, of this workflow and node. */
	readonly read = gather(async (keys: string[]) => {
		const byKey = new Map(keys.map((key): [string, RecordRow[]] => [key, []]));
		const { workflowId, nodeId } = this.scope;
		for (const row of await this.ports.store.read([...byKey.keys()])) {
			const own = row.workflow_id === workflowId && row.node_id === nodeId;
			if (own) byKey.get(row.key)?.push(row);
		}
		return keys.map((key) => byKey.get(key) ?? []);
	});

	/** Whether a change has hit its row. */
	readonly write = gather(async (changes: Change[]) => {
		const hits = await this.ports.store.change(changes);
		return hits.map((ids) => ids.length > 0);
	});

	/**
	 * Says of claims of our own that they are sent; by their tickets any number of them in one statement. `false`: it is gone.
	 * Such a call costs the same for one row as for many, so these wait while ids are written, and then go together.
	 */
	readonly sendOwn = gather(
		async (claims: RecordRow[]) => {
			const set = { status: SENT, execution_id: this.scope.executionId };
			const changes = chunks(claims).map((some): Change => ({ where: byTickets(some), set }));
			const hits = new Set((await this.ports.store.change(changes)).flat());
			return claims.map(({ id }) => hits.has(id));
		},
		async () => await this.writingIds,
	);

	/** Makes a row ours and sent. Whether it was hit. @param about what it is to say of the request */
	async take(row: RecordRow, ticket: string, about: Partial<RecordFields>): Promise<boolean> {
		if (row.writer === ticket && says(row, about)) return await this.sendOwn(row);
		const { executionId } = this.scope;
		const set = { ...about, writer: ticket, execution_id: executionId, status: SENT };
		return await this.write({ where: asSeen(row), set });
	}

	/** Writes ids, at once. Whether a row was hit. */
	readonly writeId = gather(async (changes: Change[]) => {
		const written = this.ports.store.change(changes);
		this.writingIds = written.catch(() => undefined);
		return (await written).map((ids) => ids.length > 0);
	});

	/** Adds rows. */
	readonly insert = gather(async (rows: RecordFields[]) => {
		await this.ports.store.insert(rows);
		return rows.map(() => undefined);
	});

	/** Takes rows of others away, unless they have changed. @returns the ids of those that had not */
	async remove(rows: RecordRow[]): Promise<Set<number>> {
		if (rows.length === 0) return new Set();
		return new Set((await this.ports.store.remove(rows.map(asSeen))).flat());
	}

	/** Writes down how generations have ended, all of one status at once. */
	async writeEnds(status: string, generationIds: string[]): Promise<void> {
		for (const some of chunks(generationIds)) {
			const conditions = some.map((id): Condition => ['generation_id', id]);
			await this.write({ where: { match: 'any', conditions }, set: { status }, final: true });
		}
	}

	/** Writes the id of what was made into its row. One row a generation, whatever became of that row meanwhile. */
	async putOnRecord(row: RecordRow, set: Partial<RecordFields>): Promise<void> {
		if (await this.writeId({ where: asSeen(row), set, final: true })) return;
		const rows = await this.read(row.key);
		// A try that seemed to fail has written it.
		if (rows.some((one) => one.generation_id === set.generation_id)) return;
		// Another execution took us for gone.
		const left = rows.find(
			({ id, writer, status }) => id === row.id && writer === '' && status === SENT,
		);
		if (left && (await this.writeId({ where: asSeen(left), set, final: true }))) return;
		// Its row was deleted, or the request was sent once more.
		await this.insert(fieldsOf({ ...row, ...set }));
	}

	/** Tries again what must not be lost. What the table does not answer any more is under way. Never throws. */
	async keep<T>(run: () => Promise<T>): Promise<Attempt<T>> {
		for (const pause of PAUSES_MS) {
			const tried = await attempt(run);
			if (tried.ok || tried.error instanceof UnansweredError) return tried;
			await this.ports.clock.sleep(pause, this.ports.signal);
		}
		return await attempt(run);
	}

	/** Goes on whatever becomes of the step; `settled` waits for it. */
	async background(run: () => Promise<void>): Promise<void> {
		const task = run();
		this.pending.add(task);
		await task.finally(() => this.pending.delete(task));
	}

	/** Until nothing is under way in the background. */
	async settled(): Promise<void> {
		await Promise.all(this.pending);
	}
}

/** A row as long as nobody has changed it: ids alone are given anew to others. */
export function asSeen(row: RecordRow): Where {
	const marks = ['id', 'writer', 'status', 'generation_id'] as const;
	return all(...marks.map((mark): Condition => [mark, row[mark]]));
}

/** Rows of which every condition is true. */
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
