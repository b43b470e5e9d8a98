/** The stored state of an item's order. */
export interface Entry {
	/** The generation of the order. Without an id, requests were sent and their results are unknown. */
	id?: string;
	/** The last known status. */
	status?: string;
	/** Number of requests that were sent and not certainly rejected. */
	sent?: number;
	/** The `Idempotency-Key` header of its requests, the same in every attempt. */
	name?: string;
	/** Text for the user: the data table row of the order, and how to resolve it. */
	onRecord?: string;
}

/** True if requests were sent and their results are unknown. */
export function isOpen(entry: Entry | undefined): boolean {
	return entry !== undefined && entry.id === undefined;
}

/** True if there is a generation to reuse. A failed one was refunded, so it does not count. */
export function isMade(entry: Entry | undefined): entry is Entry & { id: string } {
	return entry?.id !== undefined && entry.status !== 'failed';
}
