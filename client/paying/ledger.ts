import { outputName, type CreateJob, type OutputRef } from '../job';
import { eachOnce, type KnownGeneration } from '../api/errors';
import type { Generation } from '../api/generation';
import { isMade, type Entry } from './book';
import { digest } from './digest';
import { orderName } from './order-name';

/** The fields of a job that identify its order. */
type Ordered = OutputRef & Pick<CreateJob, 'recipe' | 'idempotencyKey'>;

const NO_RECIPE = { request: '', idempotencyKey: '' };

/**
 * The orders of one step, so that a later attempt reuses their generations. It lives in a plain object that n8n
 * stores with the execution. It survives Retry On Fail and "Retry execution".
 */
export class Ledger {
	/** The ledger keys of each output, the newest last. */
	private readonly keys = new Map<string, string[]>();

	/**
	 * @param entries the object stored with the execution; it is changed at once
	 * @param runIndex run of the node; a later run of a loop pays for its own generations
	 * @param execution identifies the execution, and is the same in all of its retries
	 */
	constructor(
		readonly entries: Record<string, Entry>,
		private readonly runIndex: number,
		private readonly execution = '',
	) {
		for (const key of Object.keys(entries)) this.index(key);
	}

	/**
	 * Returns the key of an item's order.
	 *
	 * A changed prompt is a new order, and so is a changed idempotency key. A different result of the same recipe is
	 * not: otherwise a random seed would be charged in every attempt. Adding or removing an idempotency key is no new
	 * order either.
	 *
	 * @param print from `digestOf` its request
	 */
	key({ recipe, idempotencyKey, ...output }: Ordered, print: string): string {
		const { request: asking, idempotencyKey: naming } = recipe?.() ?? NO_RECIPE;
		const named = idempotencyKey ? [idempotencyKey, naming] : ['', ''];
		const [made, ...name] = [asking, ...named].map(markOf);
		const item = this.prefix(output);
		const earlier = (this.keys.get(item) ?? [])
			.filter((key) => this.entries[key] !== undefined && this.entries[key].status !== 'failed')
			.map((key) => ({ key, marks: key.slice(item.length).split(':') }))
			.filter(({ marks: [, , ...other] }) => maySayTheSame(name, other));
		const same =
			earlier.find(({ marks: [other] }) => other === print) ??
			earlier.find(({ marks: [, other] }) => made !== '' && other === made);
		return same?.key ?? item + [print, made, ...name].join(':');
	}

	/**
	 * Returns the name of an item's order, for items without an idempotency key.
	 *
	 * @param print from `digestOf` its request
	 */
	nameOf(output: OutputRef, print: string): string {
		const entries = (this.keys.get(this.prefix(output)) ?? []).map((key) => this.entries[key]);
		const failed = entries.flatMap((entry) => (entry?.status === 'failed' ? [entry.id] : []));
		const { size: failures } = new Set(failed);
		return orderName([this.execution, this.runIndex, outputName(output)], failures, print);
	}

	find(key: string): Entry | undefined {
		return this.entries[key];
	}

	/**
	 * Returns the generation that is known to be paid for an output; `null` if there is none.
	 *
	 * @param key of its order; `null` if its request was never built, so that any order of the output counts
	 */
	paidBy(output: OutputRef, key: string | null): KnownGeneration | null {
		const keys = key === null ? (this.keys.get(this.prefix(output)) ?? []) : [key];
		// Newest first.
		for (const one of [...keys].reverse()) {
			const entry = this.find(one);
			if (isMade(entry)) return { id: entry.id, status: entry.status };
		}
		return null;
	}

	/** Returns every generation that the attempts of this run have paid for. Parameters may have changed since. */
	paid(): KnownGeneration[] {
		const known = Object.entries(this.entries).flatMap(([key, entry]) =>
			key.startsWith(`${this.runIndex}:`) && isMade(entry)
				? [{ id: entry.id, status: entry.status }]
				: [],
		);
		return eachOnce(known);
	}

	/**
	 * Stores that a request is about to be sent. Earlier open requests stay counted.
	 *
	 * @param name name of the order
	 * @param before number of open requests that this ledger does not know, used if it has no entry
	 */
	intend(key: string, name: string, before = 0): void {
		const entry = this.entries[key];
		// A failed generation keeps its entry: the name of the next order depends on the number of failures.
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

	private prefix(output: OutputRef): string {
		return `${this.runIndex}:${outputName(output)}:`;
	}
}

/** Never the text itself, because the result is stored with the execution. */
function markOf(text: string): string {
	return text === '' ? '' : digest(text);
}

/**
 * Compares two idempotency keys, each as a value and as an expression. They differ only if both differ. A missing key
 * matches any key.
 */
function maySayTheSame(one: string[], other: string[]): boolean {
	const known = one[0] !== '' && Boolean(other[0]);
	return !known || one.some((mark, index) => mark !== '' && mark === other[index]);
}
