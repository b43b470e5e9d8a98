import type { Clock, Random } from '../basics/ports';
import { all, type RecordDesk } from './record-desk';
import { CLAIMED, claimedRow, inForce, isFree, surplus, type RecordScope } from './record-rows';
import type { Condition, RecordRow, RecordStore } from './record-store';

/** The pause before reading again where several have claimed a key, and the longest before claiming anew. */
const SETTLE_MS = 300;
/** So often a claim may be taken away by others before that is called trouble. */
const MOST_CLAIMS = 10;

/** The row that counts for each key of a step, as it was last seen; and claims where there is none. */
export class Claims {
	readonly rows = new Map<string, RecordRow>();
	/** Generations known to have failed, whatever the table still says of them. */
	readonly failed = new Set<string>();
	/** How many generations of each key have failed. */
	readonly failures = new Map<string, number>();
	private tickets = 0;

	/** @param isAhead whether we know more of a key's row than the table: what has left, or come, and is still being written */
	constructor(
		private readonly scope: RecordScope,
		private readonly desk: RecordDesk,
		private readonly ports: { store: RecordStore; clock: Clock; random: Random },
		private readonly isAhead: (key: string) => boolean,
	) {}

	/** Sees to it that each key has a row: reads all of them at once, and claims those that nobody has. */
	async claim(keys: string[]): Promise<void> {
		await this.refresh(keys.filter((key) => !this.rows.has(key)));
		for (let tries = 0; tries < MOST_CLAIMS; tries++) {
			const missing = keys.filter((key) => !this.rows.has(key));
			if (missing.length === 0) return;
			const { clock, random } = this.ports;
			if (tries > 0) await clock.sleep(random() * SETTLE_MS);
			const rows = missing.map((key) => claimedRow(this.scope, key, this.ticket()));
			await Promise.all(rows.map(async (row) => await this.desk.insert(row)));
			await this.refresh(missing);
		}
		throw new Error('its rows are taken away again and again');
	}

	/** Reads the rows of keys anew, and settles where several had claimed one: each takes back its own, if it can. */
	async refresh(keys: string[]): Promise<void> {
		let unsettled = keys;
		for (let round = 0; unsettled.length > 0; round++) {
			if (round > 0) await this.ports.clock.sleep(SETTLE_MS);
			const before = unsettled.map((key) => (this.isAhead(key) ? null : this.rows.get(key)));
			const found = await Promise.all(
				unsettled.map(async (key) => {
					const rows = await this.desk.read(key);
					return rows.map((row) =>
						this.failed.has(row.generation_id) ? { ...row, status: 'failed' } : row,
					);
				}),
			);
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
				else if (row) this.rows.set(key, row);
				else this.rows.delete(key);
			});
			unsettled = again;
		}
	}

	/** Takes back what was claimed and never sent. */
	async takeBack(): Promise<void> {
		const unsent = [...this.rows.values()].some((row) => isFree(row) && this.isOwn(row));
		if (unsent) await this.ports.store.remove([all(this.mine, ['status', CLAIMED])]);
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
}
