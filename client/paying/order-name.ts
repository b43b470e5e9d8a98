import type { CreateRequest } from '../wire/service';
import { digest } from './digest';

/** A digest of a creating request: the same for the same kind of output and the same body. */
export function digestOf({ type, body }: CreateRequest): string {
	return digest(JSON.stringify([type, body]));
}

/**
 * The name of an order, which all of its creating requests carry as `Idempotency-Key`. Services and gateways that know
 * this header create nothing for the second request with the same name. The spec does not mention it.
 *
 * An order has the same name in every try and every execution. A different request is another order, because such
 * services reject a changed body under an old name. So is the next order after a failed generation, because they would
 * return the failed one again. An order that may already be charged keeps its name: see `OrderBook.intend`.
 *
 * @param item what identifies the item: its workflow, node and idempotency key, or its execution, run and index
 * @param failures how many generations of the item have failed
 * @param request from `digestOf`
 */
export function orderName(item: Array<string | number>, failures: number, request: string): string {
	return digest(JSON.stringify([...item, failures, request]));
}
