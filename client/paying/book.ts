import type { Generation } from '../wire/generation';

/** What is on record of an item's order. */
export interface Entry {
	/** The generation that came of it. Without one, requests went out of which nobody knows what came. */
	id?: string;
	/** The last status seen. */
	status?: string;
	/** Requests that went out and were not certainly refused. */
	sent?: number;
}

type Awaitable<T> = T | Promise<T>;

/**
 * Where orders are on record, so that what a lost process, a retry or another execution has paid for is taken up and
 * not paid again. An order is known by its key.
 */
export interface Book {
	find(key: string): Awaitable<Entry | undefined>;
	/** Written before a request leaves. @returns false where somebody else was quicker: then nothing may leave */
	intend(key: string): Awaitable<boolean>;
	/** The last request was certainly not charged. */
	withdraw(key: string): Awaitable<void>;
	/** Written as soon as the id is known, and when the status changes. */
	record(key: string, generation: Generation): Awaitable<void>;
}

/** Whether requests went out of which nobody knows what came. */
export function isOpen(entry: Entry | undefined): boolean {
	return entry !== undefined && entry.id === undefined;
}

/** Whether there is a generation to take up: one that has failed was refunded. */
export function isMade(entry: Entry | undefined): entry is Entry & { id: string } {
	return entry?.id !== undefined && entry.status !== 'failed';
}
