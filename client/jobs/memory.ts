import type { GenerationErrorFields } from '../api/errors';
import type { Row } from './row';

/** What a step has spent. Prices are not known in advance, so a price is measured as the drop of the balance. */
export interface Spent {
	/** Number of creating requests that were, or may have been, charged. */
	requests: number;
	credits: number;
	/** The highest price of a generation, in credits; 0 while none is known. */
	price: number;
}

export const NOTHING_SPENT: Spent = { requests: 0, credits: 0, price: 0 };

/** How long a row has not changed (`ms`), as of its last read (`at`). After a long silence, the writer counts as dead. */
export interface Silence {
	row: Row;
	at: number;
	ms: number;
}

/**
 * What a sleeping step passes on to its next run. The next run finds generations in the data table, so only what the table
 * lacks is passed on. Only plain data, because it is stored while the execution sleeps. All points in time are in
 * milliseconds since the Unix epoch.
 */
export interface Memory {
	/** Identifies the rows that this attempt of the step has written: their column `writer` begins with the token. */
	token: string;
	/** When this attempt of the step began. */
	since: number;
	/** When the last run ended; 0 in the first run. */
	restedAt: number;
	/** How items ended, by item index: the error, or `null` after a success. Later runs skip these items. */
	ends: Record<number, GenerationErrorFields | null>;
	/** Rows of generations that could not be written to the table. */
	unwritten: Row[];
	/** For each row whose request another execution is sending: how long the row has not changed. */
	silences: Silence[];
	/** For each generation that still runs, by its id: since when the step has waited for it. */
	waits: Record<string, number>;
	/** How long the most recent generations took, in milliseconds. */
	durations: number[];
	/** Since when the service has been failing; `null` after a response that shows that it works. */
	downSince: number | null;
	/** Until when nothing may be sent, because the service has asked to wait (`Retry-After`). */
	heldUntil: number;
	spent: Spent;
}

/** Returns the memory with which the first run of a step begins. */
export function newMemory(token: string, since: number, spent = NOTHING_SPENT): Memory {
	const nothing = { restedAt: 0, ends: {}, unwritten: [], silences: [], waits: {}, durations: [] };
	return { token, since, ...nothing, downSince: null, heldUntil: 0, spent };
}
