/** What is on record of an item's order. */
export interface Entry {
	/** The generation that came of it. Without one, requests went out of which nobody knows what came. */
	id?: string;
	/** The last status seen. */
	status?: string;
	/** Requests that went out and were not certainly refused. */
	sent?: number;
	/** What its requests are called, in every try of it (the header `Idempotency-Key`). */
	name?: string;
	/** Where it is on record outside of the execution, in words. */
	onRecord?: string;
}

/** Whether requests went out of which nobody knows what came. */
export function isOpen(entry: Entry | undefined): boolean {
	return entry !== undefined && entry.id === undefined;
}

/** Whether there is a generation to take up: one that has failed was refunded. */
export function isMade(entry: Entry | undefined): entry is Entry & { id: string } {
	return entry?.id !== undefined && entry.status !== 'failed';
}
