import { outputName, type CreateJob } from '../jobs/job';
import { digest, requestFields, storedKey, type RequestFields } from './table';

/**
 * Digests that identify an order within its output; `''` for none. They are stored with the execution, so they never
 * contain the texts themselves. The recipes are of the request's parameters and the idempotency key before evaluation.
 */
export type OrderDigests = Record<'request' | 'recipe' | 'key' | 'keyRecipe', string>;

/** What an output asks for. */
export interface Order {
	job: CreateJob;
	digests: OrderDigests;
	/** Key of its row in the table; `null` for an item without an idempotency key. */
	key: string | null;
	/** Row fields of the request that is sent. Its model changes with a fallback model, and it stays the same order. */
	fields: RequestFields;
	/** Equal for orders that must be handled one after the other. */
	lock: string;
}

const NO_RECIPE = { request: '', idempotencyKey: '' };

/** Returns the order of a job, in a run of its node. No file is read for it. */
export function orderOf(job: CreateJob, runIndex: number): Order {
	const { idempotencyKey = null } = job;
	const key = idempotencyKey === null ? null : storedKey(idempotencyKey);
	const unevaluated = job.recipe?.() ?? NO_RECIPE;
	const digests = {
		request: job.digest,
		recipe: digestOrEmpty(unevaluated.request),
		key: digestOrEmpty(idempotencyKey ?? ''),
		keyRecipe: digestOrEmpty(key === null ? '' : unevaluated.idempotencyKey),
	};
	const what = digests.recipe || digests.request;
	const lock = key ?? JSON.stringify([runIndex, outputName(job), what]);
	return { job, digests, key, fields: requestFields(job), lock };
}

/**
 * Returns the `Idempotency-Key` header of an order. Services that support it create nothing for a repeated value, so all
 * attempts send the same one. Another request gets a new one, and so does the order after a failed generation.
 *
 * @param owner identifies the order: its workflow, node and idempotency key, or its execution, run and item
 */
export function headerOf(
	owner: Array<string | number>,
	failures: number,
	{ request, model }: Pick<RequestFields, 'request' | 'model'>,
): string {
	return digest(JSON.stringify([...owner, failures, request, model]));
}

/**
 * True if an output that has paid for one order may not pay for the other. In a retry, expressions may return other values,
 * such as a random seed, or the user may have changed them for other items: only what differs both before and after
 * evaluation is another request, or another idempotency key. A key that was added or removed changes nothing.
 */
export function isSame(one: OrderDigests, other: OrderDigests): boolean {
	const isEqual = (name: keyof OrderDigests) => one[name] !== '' && one[name] === other[name];
	const hasKeys = one.key !== '' && other.key !== '';
	if (hasKeys && !isEqual('key') && !isEqual('keyRecipe')) return false;
	return one.request === other.request || isEqual('recipe');
}

function digestOrEmpty(text: string): string {
	return text === '' ? '' : digest(text);
}
