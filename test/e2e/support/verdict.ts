import { slotUse } from '../../../bench/slots';
import type { BookEntry, Books } from '../../../sandbox/books/books';
import type { RequestLog } from '../../../sandbox/books/requests';
import type { Row } from './campaign';

/** What the service's books say of rows that have come in. */
export interface Verdict {
	items: number;
	generations: number;
	/** Rows that were handed on, and said to be uncertain. */
	handedOn: number;
	uncertain: number;
	/** Of those, how many were paid. */
	uncertainPaid: number;
	/** Rows that are paid for more than once. */
	paidTwice: number;
	/** Rows that are paid for, and neither handed on with an id of theirs nor said to be uncertain. */
	lost: number;
	/** Rows of which nothing is known at the end. */
	open: number;
	/** Of the time for which slots could have been busy. */
	slotUse: number;
	/** Seconds from a row's arrival to its generation's beginning. */
	medianWait: number;
	longestWait: number;
	/** Requests that met with trouble, by its kind. */
	troubles: Record<string, number>;
}

/** Holds rows against the books. @param now when it ended, in milliseconds since 1970 */
export function judge(
	rows: Row[],
	books: Books,
	requests: RequestLog,
	limit: number,
	now: number,
): Verdict {
	const paid = new Map<string, BookEntry[]>();
	for (const entry of books.generations) {
		if (entry.charged === entry.refunded) continue;
		paid.set(entry.prompt, [...(paid.get(entry.prompt) ?? []), entry]);
	}
	const paidFor = ({ prompt }: Row) => paid.get(prompt) ?? [];
	const isHandedOn = (row: Row) =>
		paidFor(row).some(({ id }) => typeof row.end === 'object' && id === row.end?.id);
	const count = (check: (row: Row) => boolean) => rows.filter(check).length;
	const waits = rows
		.flatMap((row) => paidFor(row).map(({ created }) => (created - row.arrived) / 1000))
		.sort((one, other) => one - other);
	return {
		items: rows.length,
		generations: books.totals.created,
		handedOn: count(isHandedOn),
		uncertain: count(({ end }) => end === 'uncertain'),
		uncertainPaid: count((row) => row.end === 'uncertain' && paidFor(row).length > 0),
		paidTwice: count((row) => paidFor(row).length > 1),
		lost: count((row) => paidFor(row).length > 0 && row.end !== 'uncertain' && !isHandedOn(row)),
		open: count(({ end }) => end === null),
		slotUse: slotUse(
			books.generations.map(({ created, finishes }) => ({ from: created, to: finishes })),
			rows.map((row) => ({
				from: row.arrived,
				to: paidFor(row)[0]?.finishes ?? (row.settled || now),
			})),
			limit,
		),
		medianWait: waits[Math.floor(waits.length / 2)],
		longestWait: waits[waits.length - 1],
		troubles: troublesIn(requests),
	};
}

function troublesIn(requests: RequestLog): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { fault } of requests.all) if (fault) counts[fault] = (counts[fault] ?? 0) + 1;
	return counts;
}
