import type { BookEntry, Books } from '../../../sandbox/books/books';
import { slotUse } from './slots';

/** One row of a batch, and what became of it. Times in milliseconds since 1970. */
export interface Row {
	prompt: string;
	/** When its batch was called for first. */
	arrived: number;
	/** The last word on it: handed on with this id, or said to be uncertain. */
	end: { id: string } | 'uncertain' | null;
	/** When that was known. */
	settled: number;
}

/** A row that has not come in yet. */
export const newRow = (prompt: string): Row => ({ prompt, arrived: 0, end: null, settled: 0 });

/** What the service's books say of rows that have come in. */
export interface Verdict {
	items: number;
	generations: number;
	handedOn: number;
	/** Rows that were said to be uncertain, and how many of those were paid. */
	uncertain: number;
	uncertainPaid: number;
	/** Rows that are paid for more than once. */
	paidTwice: number;
	/** Rows on which the last word is not what the books say: what was handed on is not theirs, or not paid. */
	lost: number;
	/** Rows on which there was no last word when the time was up. */
	open: number;
	/** Of the time for which slots could have been busy. */
	slotUse: number;
	/** Seconds from a row's arrival to its generation's beginning: what was killed, and called for again, included. */
	medianWait: number;
	longestWait: number;
}

/**
 * Holds rows against the books.
 *
 * @param limit how many generations the account may have at once
 * @param now when it ended, in milliseconds since 1970
 */
export function judge(rows: Row[], books: Books, limit: number, now: number): Verdict {
	const all = books.generations;
	const paid = paidByPrompt(all);
	const paidFor = ({ prompt }: Row) => paid.get(prompt) ?? [];
	const isTheirs = (row: Row, handedOn: string) => paidFor(row).some(({ id }) => id === handedOn);
	const count = (check: (row: Row) => boolean) => rows.filter(check).length;
	const isHandedOn = (row: Row) => row.end !== null && row.end !== 'uncertain';
	const waits = rows
		.flatMap((row) => paidFor(row).map(({ created }) => (created - row.arrived) / 1000))
		.sort((one, other) => one - other);
	const running = all.map(({ created, finishes }) => ({ from: created, to: finishes }));
	// A request that was lost before it created anything is not sent again: no slot can be used for its row.
	const isLost = (row: Row) => row.end === 'uncertain' && paidFor(row).length === 0;
	const arrived = rows.filter((row) => row.arrived > 0 && !isLost(row));
	const wanted = arrived.map((row) => ({
		from: row.arrived,
		to: paidFor(row)[0]?.finishes ?? (row.settled || now),
	}));
	return {
		items: rows.length,
		generations: all.length,
		handedOn: count(isHandedOn),
		uncertain: count(({ end }) => end === 'uncertain'),
		uncertainPaid: count((row) => row.end === 'uncertain' && paidFor(row).length > 0),
		paidTwice: count((row) => paidFor(row).length > 1),
		lost: count((row) => row.end !== null && row.end !== 'uncertain' && !isTheirs(row, row.end.id)),
		open: count(({ end }) => end === null),
		slotUse: slotUse(running, wanted, limit),
		medianWait: waits[Math.floor(waits.length / 2)],
		longestWait: waits[waits.length - 1],
	};
}

/** What was paid and not refunded. */
function paidByPrompt(entries: BookEntry[]): Map<string, BookEntry[]> {
	const paid = new Map<string, BookEntry[]>();
	for (const entry of entries) {
		if (entry.charged === entry.refunded) continue;
		const others = paid.get(entry.prompt);
		if (others) others.push(entry);
		else paid.set(entry.prompt, [entry]);
	}
	return paid;
}
