import { createHash } from 'crypto';
import type { CreateRequest } from '../api/client';

/** Returns a short digest of a text: the first 32 hexadecimal digits of its SHA-256. */
export function digest(text: string): string {
	return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Returns a digest of a creating request. It is the same for the same type of output and the same body. */
export function digestOf({ type, body }: CreateRequest): string {
	return digest(JSON.stringify([type, body]));
}

/**
 * Returns the `Idempotency-Key` header of an order. The spec does not mention this header. Services and gateways that
 * know it create nothing for a second request with the same value.
 *
 * The value is the same in every attempt and every execution. It differs for another request, because such services
 * reject a changed body under an old value. It also differs after a failed generation, because they would return the
 * failed one again.
 *
 * @param owner identifies the order: its workflow, node and idempotency key, or its execution, run and item
 * @param failures number of failed generations of the order
 * @param request from `digestOf`
 */
export function headerOf(owner: Array<string | number>, failures: number, request: string): string {
	return digest(JSON.stringify([...owner, failures, request]));
}
