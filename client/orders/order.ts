import { outputName, type CreateJob } from '../jobs/job';
import { digest, requestFields, storedKey, type RequestFields } from './table';

/**
 * Digests by which `isSame` recognizes an order; `''` for a missing value. `request` and `key` are digests of the values.
 * `recipe` and `keyRecipe` are digests of the unevaluated expressions of the request and the idempotency key.
 */
export type OrderDigests = Record<'request' | 'recipe' | 'key' | 'keyRecipe', string>;

/** What one output of an item asks for. */
export interface Order {
	job: CreateJob;
	digests: OrderDigests;
	/** The item's idempotency key, as its row in the table stores it; `null` for an item without one. */
	key: string | null;
	/** Row fields of the request that is sent. A fallback model changes `model` here, but the order stays the same. */
	fields: RequestFields;
	/** Equal for orders that must be handled one after the other. */
	lock: string;
}

const NO_RECIPE = { request: '', idempotencyKey: '' };

/** Returns the order of a job. `runIndex` is n8n's index of the node's run. Reads no files. */
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
 * Returns the `Idempotency-Key` header of an order. A service that supports this header creates nothing for a repeated
 * value, so a repeated request keeps its value. A changed request, or one after a failed generation, gets a new value.
 *
 * @param owner identifies the order: workflow, node and idempotency key; without a key, execution, run and output
 */
export function headerOf(
	owner: Array<string | number>,
	failures: number,
	{ request, model }: Pick<RequestFields, 'request' | 'model'>,
): string {
	return digest(JSON.stringify([...owner, failures, request, model]));
}

/**
 * True if both orders count as the same, so that only one of them is created. Equal values or equal expressions are enough:
 * in a retry, the same expression may return a new value (a random seed), and an edited one may return the old value. If
 * both orders have idempotency keys, these must match in the same way, too.
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
