import { withModel } from '../attempts';
import type { CreateJob } from '../job';
import { GenerationError, type KnownGeneration } from '../api/errors';
import { isFinal, type Generation } from '../api/generation';
import type { CreateRequest } from '../api/client';
import { isMade, isOpen, type Entry } from './book';
import type { Ledger } from './ledger';
import type { Found, GenerationRecord } from './record';
import { hasId, requestFields, SENT, storedKey } from './record-rows';
import type { RecordFields, RecordRow } from './record-store';
import { goneInRow, inRow, unknownInRow } from './uncertain-charge';

/** An item's order. Its request may be megabytes, so it is not kept. */
export interface Order {
	job: CreateJob;
	/** Key in the ledger. */
	key: string;
	/** Key in the record outside of the execution; `null` for an item without an idempotency key. */
	recordKey: string | null;
	/** Digest of the request that is sent. */
	print: string;
	/** Digests of the request with each of its models. */
	prints: Set<string>;
	/** Request fields for the row of the record. */
	about: Partial<RecordFields>;
	/** The open row that may be sent again, if no other writer has changed it since. */
	open?: RecordRow;
}

export interface Books {
	/** Stored with the execution. */
	ledger: Ledger;
	/** Stored outside of the execution, for items with an idempotency key. */
	record?: GenerationRecord | null;
}

/**
 * Stores orders, so that retries, restarts and other executions reuse a paid generation. Every order is stored with
 * the execution. With an idempotency key, it is also stored outside of it.
 *
 * Before a request, the record is written first. After a response, the ledger is written first.
 */
export class OrderBook {
	/** Indexes of items that reuse a generation although their request has changed. */
	readonly changed = new Set<number>();

	/** @param halt ends waits for requests of other executions */
	constructor(
		private readonly books: Books,
		private readonly halt: AbortSignal,
	) {}

	order(job: CreateJob, request: CreateRequest): Order {
		const named = job.idempotencyKey ?? null;
		const fields = requestFields(request);
		const { fallbackModels = [] } = named === null ? {} : job;
		const others = fallbackModels.map((model) => requestFields(withModel(request, model)).request);
		return {
			job,
			key: this.books.ledger.key(job, fields.request),
			recordKey: named === null ? null : storedKey(named),
			print: fields.request,
			prints: new Set([fields.request, ...others]),
			about: named === null ? {} : fields,
		};
	}

	/** Changes the request of an order: its next one has another model. It stays the same order. */
	use(order: Order, request: CreateRequest): void {
		const fields = requestFields(request);
		order.print = fields.request;
		if (order.recordKey !== null) order.about = fields;
	}

	/**
	 * Returns the generation that an item is known to have paid for; `null` if there is none.
	 *
	 * @param key of its order in the ledger; `null` if its request was never built
	 */
	paidBy(job: CreateJob, key: string | null): KnownGeneration | null {
		const { ledger, record } = this.books;
		const { idempotencyKey } = job;
		const row = idempotencyKey ? record?.rowOf(storedKey(idempotencyKey)) : undefined;
		const onRecord = row && hasId(row) ? { id: row.generation_id, status: row.status } : null;
		return ledger.paidBy(job, key) ?? onRecord;
	}

	/**
	 * Returns the stored state of an order. If another item or execution is sending it, waits for the result.
	 *
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async find(order: Order): Promise<Entry | undefined> {
		const entry = this.books.ledger.find(order.key);
		const { key, record } = this.outside(order);
		if (record === null || record.isHeldBy(key, order)) return entry;
		const found = await record.find(key, this.halt, order.job.timeoutMs);
		if (isMade(entry)) {
			// The generation was paid for before the item had this key.
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

	/** Returns the known state of an order without reading the table. Valid once nothing more is sent for it. */
	known(order: Order): Entry | undefined {
		const entry = this.books.ledger.find(order.key);
		const { key, record } = this.outside(order);
		const row = record?.rowOf(key);
		if (row === undefined || isMade(entry)) return entry;
		const leftOpen = row.status === SENT && row.writer === '';
		return leftOpen || isOpen(entry) ? openIn(row, entry) : entry;
	}

	/**
	 * Stores that a request is about to be sent.
	 *
	 * @returns the name of the order; `null` if another sender was faster, and nothing may be sent
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async intend(order: Order): Promise<string | null> {
		const { key, record } = this.outside(order);
		const { open } = order;
		// A row that may already be charged keeps the request digest that its name is made from.
		const about = open?.request ? { ...order.about, request: open.request } : order.about;
		if (record !== null && !(await record.send(key, order, open, about))) return null;
		const name = this.nameOf(order);
		// The ledger does not have the request that another execution sent.
		this.books.ledger.intend(order.key, name, order.open === undefined ? 0 : 1);
		return name;
	}

	/** Withdraws the last request, which was certainly not charged. */
	async withdraw(order: Order): Promise<void> {
		const { ledger } = this.books;
		ledger.withdraw(order.key);
		const { key, record } = this.outside(order);
		if (!isOpen(ledger.find(order.key))) await record?.withdraw(key, order);
	}

	/** Call this once nothing more is sent for the order. */
	async leave(order: Order): Promise<void> {
		const { key, record } = this.outside(order);
		await record?.leave(key, order);
	}

	/**
	 * Stores a generation as soon as its id is known, and when its status changes. When this returns, the ledger has
	 * it.
	 */
	record(order: Order, generation: Generation): void {
		const { ledger } = this.books;
		ledger.record(order.key, generation);
		const { id, status } = generation.item;
		const { key, record } = this.outside(order);
		if (record?.isHeldBy(key, order)) void record.made(key, generation.item);
		if (isFinal(generation) && status !== null) record?.ended(key, { id, status });
	}

	/** Adds advice about the row to an error that says that the generation or its file does not exist. */
	explain(order: Order, error: unknown): unknown {
		const { key, record } = this.outside(order);
		const row = record?.rowOf(key);
		if (!row || !(error instanceof GenerationError)) return error;
		if (error.code === 'generation_not_found') return unknownInRow(error, row);
		const gone = error.code === 'download_failed' && [403, 404, 410].includes(error.status ?? 0);
		return gone ? goneInRow(error, row) : error;
	}

	private takenUp({ job, prints }: Order, { row }: Found): Entry {
		if (row.request !== '' && !prints.has(row.request)) this.changed.add(job.itemIndex);
		return { id: row.generation_id, status: row.status };
	}

	/** An order that may already be charged keeps its name, even if its request has changed. */
	private nameOf(order: Order): string {
		const { ledger } = this.books;
		const { name } = ledger.find(order.key) ?? {};
		if (name !== undefined) return name;
		const { key, record } = this.outside(order);
		const print = order.open?.request || order.print;
		return record?.nameOf(key, print) ?? ledger.nameOf(order.job, print);
	}

	private outside({ recordKey }: Order): { key: string; record: GenerationRecord | null } {
		return recordKey === null
			? { key: '', record: null }
			: { key: recordKey, record: this.books.record ?? null };
	}
}

/** The state of an order that was sent and whose row has no id. */
function openIn(row: RecordRow, entry: Entry | undefined): Entry {
	return { sent: Math.max(1, entry?.sent ?? 0), onRecord: inRow(row) };
}
