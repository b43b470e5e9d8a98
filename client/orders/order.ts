import { outputName, type CreateJob } from '../jobs/job';
import { digest, requestFields, storedKey, type RequestFields } from './table';

/**
 * Digests that identify an order within its output; `''` for a missing value. The execution stores only these digests, not
 * the texts. `recipe` and `keyRecipe` are digests of the unevaluated expressions of the request and the idempotency key.
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

/** Returns the order of a job, in one run of its node. Reads no files. */
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
 * Returns the `Idempotency-Key` header of an order. A service that supports it creates nothing for a repeated value, so all
 * attempts send the same value. A changed request gets a new value, and so does the next request after a failed generation.
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
 * True if both orders are the same, so that an output pays for only one of them. In a retry, an expression may return
 * another value, such as a random seed, and the user may have edited an expression for other items. A request or key is
 * therefore a different one only if both its value and its expression differ. Adding or removing a key changes nothing.
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
