import type { CreateJob } from '../jobs/job';
import { GenerationError, type KnownGeneration } from '../wire/errors';
import { isFinal, type Generation } from '../wire/generation';
import type { CreateRequest } from '../wire/service';
import { isMade, isOpen, type Entry } from './book';
import type { Ledger } from './ledger';
import type { Found, GenerationRecord } from './record';
import { hasId, requestFields, SENT, storedKey } from './record-rows';
import type { RecordFields, RecordRow } from './record-store';
import { goneInRow, inRow, unknownInRow } from './uncertain-charge';

/** An item's order, as the books know it. What it asks for may be megabytes, and is not kept. */
export interface Order {
	job: CreateJob;
	/** In the ledger. */
	key: string;
	/** In the record outside of the execution; `null` for an item without an idempotency key. */
	recordKey: string | null;
	/** The digest of the request. */
	print: string;
	/** What a row of the record says of the request. */
	about: Partial<RecordFields>;
	/** The row that was found open and may be sent again: this, and not what others have made of it since. */
	open?: RecordRow;
}

export interface Books {
	/** Kept with the execution. */
	ledger: Ledger;
	/** Kept outside of it, for items that have an idempotency key. */
	record?: GenerationRecord | null;
}

/**
 * Where orders are on record, so that what a retry, a lost process or another execution has paid for is taken up and
 * not paid again: with the execution, and for an item with an idempotency key outside of it as well. The record is
 * written to before the ledger when something is to leave, and after it when something has come.
 */
export class OrderBook {
	/** Items whose generation was ordered with another request than theirs. */
	readonly changed = new Set<number>();

	/** @param halt ends the waiting for what another execution has sent */
	constructor(
		private readonly books: Books,
		private readonly halt: AbortSignal,
	) {}

	order(job: CreateJob, request: CreateRequest): Order {
		const named = job.idempotencyKey ?? null;
		const fields = requestFields(request);
		return {
			job,
			key: this.books.ledger.key(job, fields.request),
			recordKey: named === null ? null : storedKey(named),
			print: fields.request,
			about: named === null ? {} : fields,
		};
	}

	/**
	 * The generation that an item is known to have paid for.
	 *
	 * @param key of its order in the ledger; `null` where its request was never built
	 */
	paidBy({ itemIndex, idempotencyKey }: CreateJob, key: string | null): KnownGeneration | null {
		const { ledger, record } = this.books;
		const row = idempotencyKey ? record?.rowOf(storedKey(idempotencyKey)) : undefined;
		const onRecord = row && hasId(row) ? { id: row.generation_id, status: row.status } : null;
		return ledger.paidBy(itemIndex, key) ?? onRecord;
	}

	/** What is known of an order; where another has sent it, once it is known what came of that. */
	async find(order: Order): Promise<Entry | undefined> {
		const entry = this.books.ledger.find(order.key);
		const { key, record } = this.outside(order);
		if (record === null || record.isHeldBy(key, order)) return entry;
		const found = await record.find(key, this.halt, order.job.timeoutMs);
		if (isMade(entry)) {
			// Paid for before the item had this key.
			const { about } = order;
			if (found.state === 'free' && (await record.send(key, order, undefined, about))) {
				await record.made(key, entry);
			}
			return entry;
		}
		if (found.state === 'made') return this.takenUp(order, found);
		if (found.state === 'free') return entry;
		if (order.job.onUncertainCharge === 'resubmit') order.open = found.row;
		return openIn(found.row, entry);
	}

	/** What is known of an order without asking, once nothing more is sent for it. */
	known(order: Order): Entry | undefined {
		const entry = this.books.ledger.find(order.key);
		const { key, record } = this.outside(order);
		const row = record?.rowOf(key);
		if (row === undefined || isMade(entry)) return entry;
		const leftOpen = row.status === SENT && row.writer === '';
		return leftOpen || isOpen(entry) ? openIn(row, entry) : entry;
	}

	/**
	 * Right before a request leaves.
	 *
	 * @returns the name of the order; `null` where somebody else was quicker: nothing may leave
	 */
	async intend(order: Order): Promise<string | null> {
		const { key, record } = this.outside(order);
		const { open } = order;
		// A row that may already be charged keeps the request that its name stems from.
		const about = open?.request ? { ...order.about, request: open.request } : order.about;
		if (record !== null && !(await record.send(key, order, open, about))) return null;
		const name = this.nameOf(order);
		// What another execution has sent is not in the ledger of this one.
		this.books.ledger.intend(order.key, name, order.open === undefined ? 0 : 1);
		return name;
	}

	/** The last request was certainly not charged. */
	async withdraw(order: Order): Promise<void> {
		const { ledger } = this.books;
		ledger.withdraw(order.key);
		const { key, record } = this.outside(order);
		if (!isOpen(ledger.find(order.key))) await record?.withdraw(key, order);
	}

	/** Nothing more is sent for the order, whatever has come of it. */
	async leave(order: Order): Promise<void> {
		const { key, record } = this.outside(order);
		await record?.leave(key, order);
	}

	/** As soon as the id is known, and when the status changes. The execution knows it when this returns. */
	record(order: Order, generation: Generation): void {
		const { ledger } = this.books;
		ledger.record(order.key, generation);
		const { id, status } = generation.item;
		const { key, record } = this.outside(order);
		if (record?.isHeldBy(key, order)) void record.made(key, generation.item);
		if (isFinal(generation) && status !== null) record?.ended(key, { id, status });
	}

	/** The error of an order whose generation the service does not know, or its storage, with what to do about the record. */
	explain(order: Order, error: unknown): unknown {
		const { key, record } = this.outside(order);
		const row = record?.rowOf(key);
		if (!row || !(error instanceof GenerationError)) return error;
		if (error.code === 'generation_not_found') return unknownInRow(error, row);
		const gone = error.code === 'download_failed' && [403, 404, 410].includes(error.status ?? 0);
		return gone ? goneInRow(error, row) : error;
	}

	private takenUp({ job, print }: Order, { row }: Found): Entry {
		if (row.request !== '' && row.request !== print) this.changed.add(job.itemIndex);
		return { id: row.generation_id, status: row.status };
	}

	/** An order that may already be charged keeps its name, also where its request comes out differently now. */
	private nameOf(order: Order): string {
		const { ledger } = this.books;
		const { name } = ledger.find(order.key) ?? {};
		if (name !== undefined) return name;
		const { key, record } = this.outside(order);
		const print = order.open?.request || order.print;
		return record?.nameOf(key, print) ?? ledger.nameOf(order.job.itemIndex, print);
	}

	private outside({ recordKey }: Order): { key: string; record: GenerationRecord | null } {
		return recordKey === null
			? { key: '', record: null }
			: { key: recordKey, record: this.books.record ?? null };
	}
}

/** An order that was sent, and of which the row knows no more than that. */
function openIn(row: RecordRow, entry: Entry | undefined): Entry {
	return { sent: Math.max(1, entry?.sent ?? 0), onRecord: inRow(row) };
}
