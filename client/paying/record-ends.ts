import { all, type RecordDesk } from './record-desk';
import type { RecordRow } from './record-store';

/** How generations have ended, on the way into the table. */
export class RecordEnds {
	/** Ids of generations whose end is written when there is time, by status. */
	private readonly waiting = new Map<string, string[]>();
	/** Failed generations that are being written down as such, by key. */
	private readonly failing = new Map<string, Promise<void>>();

	/** @param unrecorded takes the keys of failed generations that could not be written down as such */
	constructor(
		private readonly desk: RecordDesk,
		private readonly unrecorded: Set<string>,
	) {}

	/** Writes an end with the next `write`. */
	add(status: string, id: string): void {
		this.waiting.set(status, [...(this.waiting.get(status) ?? []), id]);
	}

	/** Writes at once that the generation of a row has failed. `failureOf` tells when that is done. */
	fail(row: RecordRow): void {
		this.failing.set(row.key, this.writeFailure(row));
	}

	/** Resolves when the failure of a key's generation is on record, or could not be put there. */
	async failureOf(key: string): Promise<void> {
		await this.failing.get(key);
	}

	/** Writes what is waiting. */
	async write(): Promise<void> {
		const ends = [...this.waiting];
		this.waiting.clear();
		for (const [status, ids] of ends) await this.desk.writeEnds(status, ids);
	}

	/** Resolves when nothing is being written any more. */
	async settled(): Promise<void> {
		await Promise.all(this.failing.values());
	}

	private async writeFailure({ key, generation_id: id }: RecordRow): Promise<void> {
		const where = all(['generation_id', id]);
		await this.desk.settled();
		const written = await this.desk.keep(
			async () => await this.desk.write({ where, set: { status: 'failed' }, final: true }),
		);
		if (!written.ok) this.unrecorded.add(key);
	}
}
