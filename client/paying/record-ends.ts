import { all, type RecordDesk } from './record-desk';
import type { RecordRow } from './record-store';

/** Writes the final statuses of generations into the table. */
export class RecordEnds {
	/** Ids of generations for the next `write`, by status. */
	private readonly waiting = new Map<string, string[]>();
	/** Writes of failed generations, by key. */
	private readonly failing = new Map<string, Promise<void>>();

	/** @param unrecorded receives the keys of failures that could not be written */
	constructor(
		private readonly desk: RecordDesk,
		private readonly unrecorded: Set<string>,
	) {}

	/** Queues a final status for the next `write`. */
	add(status: string, id: string): void {
		this.waiting.set(status, [...(this.waiting.get(status) ?? []), id]);
	}

	/** Starts to write the failure of a row's generation. `failureOf` waits for it. */
	fail(row: RecordRow): void {
		this.failing.set(row.key, this.writeFailure(row));
	}

	/** Resolves when the failure of a key's generation is written, or could not be written. */
	async failureOf(key: string): Promise<void> {
		await this.failing.get(key);
	}

	/** Writes the queued statuses. */
	async write(): Promise<void> {
		const ends = [...this.waiting];
		this.waiting.clear();
		for (const [status, ids] of ends) await this.desk.writeEnds(status, ids);
	}

	/** Resolves when no failure is being written. */
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
