import { outputName, type CreateJob, type OutputRef } from '../job';
import { eachOnce, type KnownGeneration } from '../api/errors';
import type { Generation } from '../api/generation';
import { withModel, type CreateRequest } from '../api/client';
import { headerOf, type Entry, type Journal, type Marks, type Order } from './journal';
import { digest, digestOf, isLive, requestFields, storedKey } from './table';

/** An order as it is stored with the execution. */
export interface StoredOrder extends Marks {
	/** Number of requests that were sent and not certainly rejected, until there is a generation. */
	sent?: number;
	/** The `Idempotency-Key` header of these requests. */
	header?: string;
	id?: string;
	status?: string;
}

/** The orders of a node, by the node's run index and the name of the output. The last order of a list is the newest. */
export type StoredOrders = Record<string, Record<string, StoredOrder[]>>;

const NO_RECIPE = { request: '', idempotencyKey: '' };

/** Stores orders in a plain object that n8n stores with the execution. It survives Retry On Fail and "Retry execution". */
export class ExecutionJournal implements Journal {
	/**
	 * @param shared the object stored with the execution; it is changed at once
	 * @param runIndex run of the node; a later run of a loop pays for its own generations
	 * @param execution identifies the execution, and is the same in all of its retries
	 */
	constructor(
		readonly shared: StoredOrders,
		private readonly runIndex: number,
		private readonly execution = '',
	) {}

	/**
	 * A changed prompt is a new order, and so is a changed idempotency key. A different result of the same recipe is
	 * not: otherwise a random seed would be charged in every attempt. Adding or removing an idempotency key is no new
	 * order either.
	 */
	order(job: CreateJob, request: CreateRequest): Order {
		const { recipe, idempotencyKey: key = null, fallbackModels = [] } = job;
		const unevaluated = recipe?.() ?? NO_RECIPE;
		const fields = requestFields(request);
		const own: Marks = {
			request: fields.request,
			recipe: markOf(unevaluated.request),
			key: markOf(key ?? ''),
			keyRecipe: markOf(key === null ? '' : unevaluated.idempotencyKey),
		};
		const earlier = this.orders(job).filter((one) => isLive(one) && mayHaveSameKey(own, one));
		const same =
			earlier.find((one) => one.request === own.request) ??
			earlier.find((one) => own.recipe !== '' && one.recipe === own.recipe);
		const marks = same ?? own;
		const models = key === null ? [] : fallbackModels;
		const others = models.map((model) => withModel(request, model));
		return {
			job,
			marks,
			key: key === null ? null : storedKey(key),
			fields,
			requests: new Set([fields.request, ...others.map(digestOf)]),
			lock: JSON.stringify(key === null ? [this.runIndex, outputName(job), marks.request] : key),
		};
	}

	async read(order: Order): Promise<Entry> {
		return await Promise.resolve(this.known(order));
	}

	known(order: Order): Entry {
		const { id, status, sent } = this.find(order) ?? {};
		if (id !== undefined) return { state: 'made', id, status: status ?? '' };
		return sent === undefined ? { state: 'none' } : { state: 'sent', count: sent };
	}

	async reserve(order: Order): Promise<string> {
		const failed = this.orders(order.job).flatMap((one) => (isLive(one) ? [] : [one.id]));
		const owner = [this.execution, this.runIndex, outputName(order.job)];
		const header = headerOf(owner, new Set(failed).size, order.fields.request);
		return await Promise.resolve(this.note(order, header));
	}

	/**
	 * Stores that a request is about to be sent. Earlier open requests stay counted.
	 *
	 * @param header of a new order; one that may already be charged keeps its header
	 * @param before number of open requests that this journal does not know, used if it has no entry
	 * @returns the header
	 */
	note(order: Order, header: string, before = 0): string {
		const entry = this.find(order) ?? this.add(order);
		entry.sent = (entry.sent ?? before) + 1;
		return (entry.header ??= header);
	}

	release(order: Order): void {
		const entry = this.find(order);
		if (entry?.sent === undefined) return;
		if (entry.sent > 1) entry.sent--;
		else {
			const orders = this.orders(order.job);
			orders.splice(orders.indexOf(entry), 1);
		}
	}

	abandon(): void {
		// Its orders stay counted as sent.
	}

	commit(order: Order, { item: { id, status } }: Generation): void {
		const known = this.orders(order.job).find((one) => one.id === id);
		const entry = known ?? this.find(order) ?? this.add(order);
		delete entry.sent;
		delete entry.header;
		Object.assign(entry, { id, ...(status !== null && { status }) });
	}

	paidBy(output: OutputRef, order: Order | null): KnownGeneration | null {
		const orders = this.orders(output);
		const counted = order ? orders.filter((one) => isSame(one, order.marks)) : orders;
		return counted.filter(isMade).map(knownOf).at(-1) ?? null;
	}

	/** Returns every generation that the attempts of this run have paid for. Parameters may have changed since. */
	paid(): KnownGeneration[] {
		const orders = Object.values(this.run).flat();
		return eachOnce(orders.filter(isMade).map(knownOf));
	}

	/** The orders of this run of the node, in all attempts of the step. Also identifies the run. */
	get run(): Record<string, StoredOrder[]> {
		return (this.shared[this.runIndex] ??= {});
	}

	explain(_order: Order, error: unknown): unknown {
		return error;
	}

	private orders(output: OutputRef): StoredOrder[] {
		return this.run[outputName(output)] ?? [];
	}

	private find({ job, marks }: Order): StoredOrder | undefined {
		const found = this.orders(job).filter((one) => isLive(one) && isSame(one, marks));
		return found.at(-1);
	}

	private add({ job, marks }: Order): StoredOrder {
		const { request, recipe, key, keyRecipe } = marks;
		const added = { request, recipe, key, keyRecipe };
		(this.run[outputName(job)] ??= []).push(added);
		return added;
	}
}

function isMade(order: StoredOrder): order is StoredOrder & { id: string } {
	return order.id !== undefined && isLive(order);
}

function knownOf({ id, status }: StoredOrder & { id: string }): KnownGeneration {
	return { id, status };
}

function isSame(one: Marks, other: Marks): boolean {
	const names = ['request', 'recipe', 'key', 'keyRecipe'] as const;
	return names.every((name) => one[name] === other[name]);
}

/** Two idempotency keys differ only if both their values and their expressions do. A missing key matches any key. */
function mayHaveSameKey(one: Marks, other: Marks): boolean {
	if (one.key === '' || other.key === '') return true;
	return one.key === other.key || (one.keyRecipe !== '' && one.keyRecipe === other.keyRecipe);
}

function markOf(text: string): string {
	return text === '' ? '' : digest(text);
}
