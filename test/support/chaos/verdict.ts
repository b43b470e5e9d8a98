import type { BookEntry, Books } from '../../../sandbox/books/books';
import { slotUse } from './slots';

/** One row of a batch and its result. Times are in milliseconds since the Unix epoch. */
export interface Row {
	prompt: string;
	/** When its batch was first started. */
	arrived: number;
	/** The final result: returned with this id, or reported as uncertain. */
	end: { id: string } | 'uncertain' | null;
	/** When the final result was known. */
	settled: number;
}

/** Returns a row that has not arrived yet. */
export const newRow = (prompt: string): Row => ({ prompt, arrived: 0, end: null, settled: 0 });

/** The rows that arrived, compared with the service's books. */
export interface Verdict {
	items: number;
	generations: number;
	handedOn: number;
	/** Number of rows that were reported as uncertain, and how many of those were charged. */
	uncertain: number;
	uncertainPaid: number;
	/** Number of rows that were charged more than once. */
	paidTwice: number;
	/** Number of rows whose result contradicts the books: their generation belongs to another row, or was not charged. */
	lost: number;
	/** Number of rows without a final result when the run ended. */
	open: number;
	/** Share of the time in which slots were busy, of the time in which they could have been. */
	slotUse: number;
}

/**
 * Compares rows with the books.
 *
 * @param limit maximum number of generations that the account may run at the same time
 * @param now when the run ended, in milliseconds since the Unix epoch
 */
export function judge(rows: Row[], books: Books, limit: number, now: number): Verdict {
	const all = books.generations;
	const paid = paidByPrompt(all);
	const paidFor = ({ prompt }: Row) => paid.get(prompt) ?? [];
	const isTheirs = (row: Row, handedOn: string) => paidFor(row).some(({ id }) => id === handedOn);
	const count = (check: (row: Row) => boolean) => rows.filter(check).length;
	const isHandedOn = (row: Row) => row.end !== null && row.end !== 'uncertain';
	const running = all.map(({ created, finishes }) => ({ from: created, to: finishes }));
	// A request that was lost before it created anything is not sent again, so its row needs no slot.
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
	};
}

/** Returns the generations that were charged and not refunded. */
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
