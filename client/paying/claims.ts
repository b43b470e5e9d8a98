import { attempt } from '../async';
import type { Clock, Random } from '../ports';
import { CancelledError } from '../api/errors';
import { all, asSeen, type RecordDesk } from './record-desk';
import {
	CLAIMED,
	claimedRow,
	inForce,
	isFree,
	isOpenRow,
	sameState,
	surplus,
	type RecordScope,
} from './record-rows';
import {
	tableTrouble,
	type Condition,
	type RecordFields,
	type RecordRow,
	type RecordStore,
} from './record-store';
import { StalenessTimer } from './staleness';

/** Pause before a key with several claims is read again. Also the maximum pause before a key is claimed again. */
const SETTLE_MS = 300;
/** Maximum number of times that a key is claimed, and that its rows are read until the claims are settled. */
const MOST_ROUNDS = 10;
/** Maximum number of compare-and-set writes of a key that find the row changed. */
const MOST_MISSES = 10;
/** A writer is treated as dead when its row has not changed for this long. */
const GONE_AFTER_MS = 60_000;

interface ClaimPorts {
	store: RecordStore;
	clock: Clock;
	random: Random;
	/** Aborts when the execution ends. No row is claimed afterwards. */
	signal: AbortSignal;
}

/** The current row of each key of a step, as last read. Claims a row for keys that have none. */
export class Claims {
	readonly rows = new Map<string, RecordRow>();
	/** Ids of failed generations. The table may still hold an older status for them. */
	readonly failed = new Set<string>();
	/** Number of failed generations by key. */
	readonly failures = new Map<string, number>();
	/** Row fields that are known before the request is built, by key. */
	readonly drafts = new Map<string, Partial<RecordFields>>();
	/** Tickets of inserted claims that have not been read back yet. */
	private readonly unread = new Set<string>();
	private readonly staleness: StalenessTimer;
	/** Number of compare-and-set writes that found the row changed, by key. */
	private readonly misses = new Map<string, number>();
	private tickets = 0;

	/**
	 * @param isAhead true if our state of a key is newer than the table: its request is in flight, or its id is being
	 * written
	 */
	constructor(
		private readonly scope: RecordScope,
		private readonly desk: RecordDesk,
		private readonly ports: ClaimPorts,
		private readonly isAhead: (key: string) => boolean,
	) {
		this.staleness = new StalenessTimer(ports.clock);
	}

	/**
	 * Ensures that each key has a row. Reads all keys in one batch, and inserts a claim for each missing row.
	 *
	 * @throws GenerationError `record_unavailable` if inserted rows cannot be read back; CancelledError once the
	 * execution has ended
	 */
	async claim(keys: string[]): Promise<void> {
		await this.refresh(keys.filter((key) => !this.rows.has(key)));
		for (let tries = 0; tries < MOST_ROUNDS; tries++) {
			const missing = keys.filter((key) => !this.rows.has(key));
			if (missing.length === 0) return;
			const { clock, random, signal } = this.ports;
			if (tries > 0) await clock.sleep(random() * SETTLE_MS);
			if (signal.aborted) throw new CancelledError();
			const rows = missing.map((key) => this.newClaim(key));
			await Promise.all(rows.map(async (row) => await this.desk.insert(row)));
			await this.refresh(missing);
		}
		throw tableTrouble('Rows that were added to it are not there when it is read');
	}

	/**
	 * Reads the rows of keys again. If several executions claimed a key, each removes its own surplus claims. From
	 * the second round on, surplus claims of other executions are removed too.
	 *
	 * @throws GenerationError `record_unavailable` if a surplus claim cannot be removed
	 */
	async refresh(keys: string[]): Promise<void> {
		const { clock } = this.ports;
		let unsettled = keys;
		for (let round = 0; unsettled.length > 0; round++) {
			if (round === MOST_ROUNDS)
				throw tableTrouble('A row that was claimed twice cannot be removed');
			if (round > 0) await clock.sleep(SETTLE_MS);
			const before = unsettled.map((key) => (this.isAhead(key) ? null : this.rows.get(key)));
			const readFrom = clock.now();
			const found = await Promise.all(unsettled.map(async (key) => await this.read(key)));
			const again: string[] = [];
			const extra = found.flatMap(surplus);
			const removed = await this.desk.remove(
				round > 0 ? extra : extra.filter((row) => this.isOwn(row)),
			);
			unsettled.forEach((key, index) => {
				const row = inForce(found[index]);
				const failures = found[index].filter(({ status }) => status === 'failed');
				this.failures.set(key, failures.length);
				// The row in memory is newer than the one that was read.
				if (this.isAhead(key) || this.rows.get(key) !== before[index]) return;
				// A surplus claim remains: it belongs to another execution, or its request was sent. Read the key
				// again.
				if (!surplus(found[index]).every(({ id }) => removed.has(id))) again.push(key);
				else if (row) this.keep(key, row, readFrom);
				else this.rows.delete(key);
			});
			unsettled = again;
		}
	}

	/**
	 * Keys that another execution is sending and that have no id yet. They are watched together, so that their
	 * staleness timers run in parallel.
	 */
	get watched(): string[] {
		return [...this.rows].filter(([, row]) => this.isElsewhere(row)).map(([key]) => key);
	}

	/**
	 * True if the writer of an open row is dead. The row's writer is then cleared, so that other executions need not
	 * wait as well.
	 */
	async isAbandoned(row: RecordRow): Promise<boolean> {
		if (!this.isElsewhere(row)) return true;
		if (this.staleness.stillMs(row) < GONE_AFTER_MS) return false;
		const set = { writer: '' };
		const left = await attempt(
			async () => await this.desk.write({ where: asSeen(row), set, final: true }),
		);
		if (!left.ok) return true;
		if (left.value) this.rows.set(row.key, { ...row, ...set });
		else this.missed(row);
		return left.value;
	}

	/**
	 * Drops a row that changed right before it was written, so that it is read again.
	 *
	 * @throws GenerationError `record_unavailable` if this keeps happening
	 */
	missed(row: RecordRow): void {
		const { id, key } = row;
		// An item with the same key has already updated it.
		if (this.rows.get(key) !== row) return;
		this.rows.delete(key);
		const misses = (this.misses.get(key) ?? 0) + 1;
		this.misses.set(key, misses);
		if (misses >= MOST_MISSES) throw tableTrouble(`Row ${id} cannot be changed`);
	}

	/** Deletes our claims that were never sent. */
	async takeBack(): Promise<void> {
		const unsent = [...this.rows.values()].some((row) => isFree(row) && this.isOwn(row));
		if (!unsent && this.unread.size === 0) return;
		// A user may have entered an id into a claim. Such a row is kept.
		const where = all(this.mine, ['status', CLAIMED], ['generation_id', '']);
		await this.ports.store.remove([where]);
	}

	isOwn({ writer }: RecordRow): boolean {
		return writer.startsWith(`${this.scope.writer}/`);
	}

	/** Matches our own rows. */
	get mine(): Condition {
		return ['writer', `${this.scope.writer}/`, 'begins with'];
	}

	/** Returns a writer token that no other row has. */
	ticket(): string {
		return `${this.scope.writer}/${++this.tickets}`;
	}

	private newClaim(key: string): RecordFields {
		const ticket = this.ticket();
		this.unread.add(ticket);
		return { ...claimedRow(this.scope, key, ticket), ...this.drafts.get(key) };
	}

	private async read(key: string): Promise<RecordRow[]> {
		const rows = await this.desk.read(key);
		rows.forEach(({ writer }) => this.unread.delete(writer));
		return rows.map((row) =>
			this.failed.has(row.generation_id) ? { ...row, status: 'failed' } : row,
		);
	}

	/** Keeps the same object while the row is unchanged, because rows are compared by identity. */
	private keep(key: string, row: RecordRow, readFrom: number): void {
		if (this.isElsewhere(row)) this.staleness.observe(row, readFrom);
		const known = this.rows.get(key);
		if (!known || !sameState(known, row)) this.rows.set(key, row);
	}

	private isElsewhere(row: RecordRow): boolean {
		return isOpenRow(row) && row.writer !== '' && !this.isOwn(row);
	}
}
