import type { CreateJob } from '../jobs/job';
import { eachOnce, type KnownGeneration } from '../wire/errors';
import type { Generation } from '../wire/generation';
import { isMade, type Entry } from './book';
import { digest } from './digest';
import { orderName } from './order-name';

/** Of a job, what its order is known again by. */
type Ordered = Pick<CreateJob, 'itemIndex' | 'recipe' | 'idempotencyKey'>;

const NO_RECIPE = { request: '', idempotencyKey: '' };

/**
 * What the tries of one step have paid for, so that a later try takes up the generation that exists. It lives in a
 * plain object that n8n keeps with the execution: it survives Retry On Fail and "Retry execution".
 */
export class Ledger {
	/** The keys of each item, the newest last. */
	private readonly keys = new Map<string, string[]>();

	/**
	 * @param entries the object kept with the execution; written to at once
	 * @param runIndex which run of the node this is: a later run of a loop is to pay for its own
	 * @param execution identifies the execution: the same in all of its retries, another in every other execution
	 */
	constructor(
		readonly entries: Record<string, Entry>,
		private readonly runIndex: number,
		private readonly execution = '',
	) {
		for (const key of Object.keys(entries)) this.index(key);
	}

	/**
	 * One key for an item's order: a changed prompt is a new order, and so is a changed idempotency key. One that came
	 * out differently of the same recipe is not, or an expression such as a random seed would pay anew with every try;
	 * and who adds an idempotency key, or takes it away, does not pay again for what the execution has.
	 *
	 * @param print from `digestOf` its request
	 */
	key({ itemIndex, recipe, idempotencyKey }: Ordered, print: string): string {
		const { request: asking, idempotencyKey: naming } = recipe?.() ?? NO_RECIPE;
		const named = idempotencyKey ? [idempotencyKey, naming] : ['', ''];
		const [made, ...name] = [asking, ...named].map(markOf);
		const item = this.prefix(itemIndex);
		const earlier = (this.keys.get(item) ?? [])
			.filter((key) => this.entries[key] !== undefined && this.entries[key].status !== 'failed')
			.map((key) => ({ key, marks: key.slice(item.length).split(':') }))
			.filter(({ marks: [, , ...other] }) => maySayTheSame(name, other));
		const same =
			earlier.find(({ marks: [other] }) => other === print) ??
			earlier.find(({ marks: [, other] }) => made !== '' && other === made);
		return same?.key ?? item + [print, made, ...name].join(':');
	}

	/** The name of an item's order where it has no idempotency key. @param print from `digestOf` its request */
	nameOf(itemIndex: number, print: string): string {
		const entries = (this.keys.get(this.prefix(itemIndex)) ?? []).map((key) => this.entries[key]);
		const failed = entries.flatMap((entry) => (entry?.status === 'failed' ? [entry.id] : []));
		return orderName([this.execution, this.runIndex, itemIndex], new Set(failed).size, print);
	}

	find(key: string): Entry | undefined {
		return this.entries[key];
	}

	/**
	 * The generation that an item is known to have paid for.
	 *
	 * @param key of its request; `null` where that was never built, so that any request of the item counts
	 */
	paidBy(itemIndex: number, key: string | null): KnownGeneration | null {
		const keys = key === null ? (this.keys.get(this.prefix(itemIndex)) ?? []) : [key];
		// The newest first.
		for (const one of [...keys].reverse()) {
			const entry = this.find(one);
			if (isMade(entry)) return { id: entry.id, status: entry.status };
		}
		return null;
	}

	/** Every generation that the tries of this run are known to have paid for, also with parameters that were changed since. */
	paid(): KnownGeneration[] {
		const known = Object.entries(this.entries).flatMap(([key, entry]) =>
			key.startsWith(`${this.runIndex}:`) && isMade(entry)
				? [{ id: entry.id, status: entry.status }]
				: [],
		);
		return eachOnce(known);
	}

	/**
	 * What was open before stays open, whatever becomes of the request that leaves now.
	 *
	 * @param name of the order's requests
	 * @param before requests of it that are open elsewhere, where nothing is known of it here
	 */
	intend(key: string, name: string, before = 0): void {
		const entry = this.entries[key];
		// A failed generation stays on record: the name of the next order depends on how many have failed.
		if (entry?.status === 'failed') this.write(`${key}:${entry.id}`, entry);
		this.write(key, { sent: (entry?.sent ?? before) + 1, name });
	}

	withdraw(key: string): void {
		const { sent = 1, ...entry } = this.entries[key] ?? {};
		if (sent > 1) this.entries[key] = { ...entry, sent: sent - 1 };
		else delete this.entries[key];
	}

	record(key: string, { item: { id, status } }: Generation): void {
		this.write(key, { id, ...(status !== null && { status }) });
	}

	private write(key: string, entry: Entry): void {
		this.index(key);
		this.entries[key] = entry;
	}

	private index(key: string): void {
		const item = key.slice(0, key.indexOf(':', key.indexOf(':') + 1) + 1);
		const others = this.keys.get(item);
		if (others === undefined) this.keys.set(item, [key]);
		else if (!others.includes(key)) others.push(key);
	}

	private prefix(itemIndex: number): string {
		return `${this.runIndex}:${itemIndex}:`;
	}
}

/** Never the text itself: it is kept with the execution. */
function markOf(text: string): string {
	return text === '' ? '' : digest(text);
}

/** Two idempotency keys, each as it came out and as it was written; only where both differ is it another one. */
function maySayTheSame(one: string[], other: string[]): boolean {
	const known = one[0] !== '' && Boolean(other[0]);
	return !known || one.some((mark, index) => mark !== '' && mark === other[index]);
}
