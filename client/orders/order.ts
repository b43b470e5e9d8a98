import type { CreateJob } from '../jobs/job';
import { digest, type RequestFields } from './table';

/**
 * Digests that identify an order within its item; `''` for none. They are stored with the execution, so they never
 * contain the texts themselves. The recipes are of the request's parameters and the idempotency key before evaluation.
 */
export type OrderDigests = Record<'request' | 'recipe' | 'key' | 'keyRecipe', string>;

/** An item's order. Its request may be megabytes, so it is not kept. */
export interface Order {
	job: CreateJob;
	digests: OrderDigests;
	/** Key of its row in the table; `null` for an item without an idempotency key. */
	key: string | null;
	/** Row fields of the request that is sent. They change with its model, and it stays the same order. */
	fields: RequestFields;
	/** Digests of the request with each of its models. */
	requests: ReadonlySet<string>;
	/** Equal for orders that must be handled one after the other. */
	lock: string;
}

const NO_RECIPE = { request: '', idempotencyKey: '' };

/** Returns the digests of an order. */
export function orderDigests(
	{ recipe, idempotencyKey: key = null }: CreateJob,
	request: string,
): OrderDigests {
	const unevaluated = recipe?.() ?? NO_RECIPE;
	return {
		request,
		recipe: digestOrEmpty(unevaluated.request),
		key: digestOrEmpty(key ?? ''),
		keyRecipe: digestOrEmpty(key === null ? '' : unevaluated.idempotencyKey),
	};
}

/**
 * Returns the `Idempotency-Key` header of an order. Services that support it create nothing for a repeated value, so all
 * attempts send the same one. Another request gets a new one, and so does the order after a failed generation.
 *
 * @param owner identifies the order: its workflow, node and idempotency key, or its execution, run and item
 */
export function headerOf(owner: Array<string | number>, failures: number, request: string): string {
	return digest(JSON.stringify([...owner, failures, request]));
}

/**
 * True if all digests are equal. The recipes count, too: n8n may evaluate parallel tool calls with the arguments of the
 * first one, so that only their recipes differ.
 */
export function isSame(one: OrderDigests, other: OrderDigests): boolean {
	const names = ['request', 'recipe', 'key', 'keyRecipe'] as const;
	return names.every((name) => one[name] === other[name]);
}

/** Two idempotency keys differ only if both their values and their expressions do. A missing key matches any key. */
export function mayHaveSameKey(one: OrderDigests, other: OrderDigests): boolean {
	if (one.key === '' || other.key === '') return true;
	return one.key === other.key || (one.keyRecipe !== '' && one.keyRecipe === other.keyRecipe);
}

function digestOrEmpty(text: string): string {
	return text === '' ? '' : digest(text);
}
