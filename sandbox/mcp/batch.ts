import { isObject } from '../basics/fields';

/** Returns true for a request, and not for a notification or a response. */
function isRequest(message: unknown): message is { id: unknown } {
	return isObject(message) && message.method !== undefined && message.id !== undefined;
}

function cancelledIn(message: unknown): unknown {
	if (!isObject(message) || message.method !== 'notifications/cancelled') return undefined;
	return isObject(message.params) ? message.params.requestId : undefined;
}

/**
 * Returns why a JSON-RPC batch cannot be answered, or null. Its responses are sent together, once there is one for each
 * ID. The SDK therefore never responds to a batch that cancels one of its requests, and loses one of two responses with
 * the same ID.
 */
export function flawOfBatch(body: unknown): string | null {
	if (!Array.isArray(body)) return null;
	const ids = body.filter(isRequest).map(({ id }) => id);
	if (new Set(ids).size < ids.length) return 'Two requests of a batch have the same ID.';
	const cancelled = (body as unknown[]).some((message) => ids.includes(cancelledIn(message)));
	return cancelled ? 'A batch cannot cancel its own requests.' : null;
}
