import { attempt } from '../basics/attempt';
import type { Clock, Random } from '../basics/ports';
import { CancelledError } from '../wire/errors';
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
import { tableTrouble } from './record-store';
import type { Condition, RecordFields, RecordRow, RecordStore } from './record-store';
import { StalenessTimer } from './staleness';

/** The pause before reading again where several have claimed a key, and the longest before claiming anew. */
const SETTLE_MS = 300;
/** Maximum number of claims of a key, and of reads until its claims are settled. */
const MOST_ROUNDS = 10;
/** Maximum number of times that a row of a key changes right before it is written to. */
const MOST_MISSES = 10;
/** A writer whose row stands still for this long is gone. */
const GONE_AFTER_MS = 60_000;

interface ClaimPorts {
	store: RecordStore;
	clock: Clock;
	random: Random;
	/** Ends the execution: nothing is claimed after that. */
	signal: AbortSignal;
}

/** The row that counts for each key of a step, as it was last seen; and claims where there is none. */
export class Claims {
	readonly rows = new Map<string, RecordRow>();
	/** Generations known to have failed, whatever the table still says of them. */
	readonly failed = new Set<string>();
	/** How many generations of each key have failed. */
	readonly failures = new Map<string, number>();
	/** What is known of the requests before they are built, by key. */
	readonly drafts = new Map<string, Partial<RecordFields>>();
	/** Tickets of claims that were inserted, and not read back since. */
	private readonly unread = new Set<string>();
	private readonly staleness: StalenessTimer;
	/** How often a row had changed right before it was written to, by key. */
	private readonly misses = new Map<string, number>();
	private tickets = 0;

	/** @param isAhead whether we know more of a key's row than the table: what has left, or come, and is still being written */
	constructor(
		private readonly scope: RecordScope,
		private readonly desk: RecordDesk,
		private readonly ports: ClaimPorts,
		private readonly isAhead: (key: string) => boolean,
	) {
		this.staleness = new StalenessTimer(ports.clock);
	}

	/** Sees to it that each key has a row: reads all of them at once, and claims those that nobody has. */
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

	/** Reads the rows of keys anew, and settles where several had claimed one: each takes back its own, if it can. */
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
				// What we have done since is newer than what was read.
				if (this.isAhead(key) || this.rows.get(key) !== before[index]) return;
				// One that is too many could not be removed: somebody has sent it. See what it has become.
				if (!surplus(found[index]).every(({ id }) => removed.has(id))) again.push(key);
				else if (row) this.keep(key, row, readFrom);
				else this.rows.delete(key);
			});
			unsettled = again;
		}
	}

	/** Keys whose request another execution has sent, without an id so far. They are watched together: their time runs at once. */
	get watched(): string[] {
		return [...this.rows].filter(([, row]) => this.isElsewhere(row)).map(([key]) => key);
	}

	/** Whether the writer of an open row is gone. That is written down: nobody else has to wait until it is certain. */
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
	 * A row had changed right before it was written to, so that it has to be read again.
	 *
	 * @throws GenerationError `record_unavailable` where that happens again and again
	 */
	missed(row: RecordRow): void {
		const { id, key } = row;
		// An item with the same key has written to it.
		if (this.rows.get(key) !== row) return;
		this.rows.delete(key);
		const misses = (this.misses.get(key) ?? 0) + 1;
		this.misses.set(key, misses);
		if (misses >= MOST_MISSES) throw tableTrouble(`Row ${id} cannot be changed`);
	}

	/** Takes back what was claimed and never sent. */
	async takeBack(): Promise<void> {
		const unsent = [...this.rows.values()].some((row) => isFree(row) && this.isOwn(row));
		if (!unsent && this.unread.size === 0) return;
		// A user may have written an id into a claim.
		const where = all(this.mine, ['status', CLAIMED], ['generation_id', '']);
		await this.ports.store.remove([where]);
	}

	isOwn({ writer }: RecordRow): boolean {
		return writer.startsWith(`${this.scope.writer}/`);
	}

	/** Rows of our own. */
	get mine(): Condition {
		return ['writer', `${this.scope.writer}/`, 'begins with'];
	}

	/** A writer that no other row has. */
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

	/** The object stays the same as long as the row does. */
	private keep(key: string, row: RecordRow, readFrom: number): void {
		if (this.isElsewhere(row)) this.staleness.observe(row, readFrom);
		const known = this.rows.get(key);
		if (!known || !sameState(known, row)) this.rows.set(key, row);
	}

	private isElsewhere(row: RecordRow): boolean {
		return isOpenRow(row) && row.writer !== '' && !this.isOwn(row);
	}
}
