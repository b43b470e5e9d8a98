import type { CreateRequest } from '../api/client';
import { digest } from './digest';

/** Returns a digest of a creating request. It is the same for the same type of output and the same body. */
export function digestOf({ type, body }: CreateRequest): string {
	return digest(JSON.stringify([type, body]));
}

/**
 * Returns the name of an order, which all of its creating requests carry as `Idempotency-Key`. Services and gateways
 * that know this header create nothing for a second request with the same name. The spec does not mention it.
 *
 * An order has the same name in every attempt and every execution. A different request is another order, because such
 * services reject a changed body under an old name. The order after a failed generation is another one as well: those
 * services would return the failed generation again. An order that may already be charged keeps its name: see
 * `OrderBook.intend`.
 *
 * @param item identifies the item: its workflow, node and idempotency key, or its execution, run and index
 * @param failures number of failed generations of the item
 * @param request from `digestOf`
 */
export function orderName(item: Array<string | number>, failures: number, request: string): string {
	return digest(JSON.stringify([...item, failures, request]));
}
