import type { Books } from '../../../sandbox/books/books';
import { judge, newRow, type Row } from './verdict';

const made = { id: 'a', prompt: 'made', created: 1_000, finishes: 2_000, charged: 8, refunded: 0 };
const books = { generations: [made] } as unknown as Books;

const row = (prompt: string, end: Row['end'], settled: number): Row => ({
	...newRow(prompt),
	arrived: 1_000,
	end,
	settled,
});

function slotUseWith(other: Row): number {
	return judge([row('made', { id: 'a' }, 2_000), other], books, 2, 3_000).slotUse;
}

it('a request that was lost before it created anything does not count as demand for a slot', () => {
	expect(slotUseWith(row('lost', 'uncertain', 3_000))).toBe(1);
});

it('a row counts as demand for a slot if it has no result, or if a generation was charged', () => {
	expect(slotUseWith(row('open', null, 0))).toBeCloseTo(1 / 3);
	const late = { ...made, id: 'b', prompt: 'charged', created: 2_000, finishes: 3_000 };
	const both = { generations: [made, late] } as unknown as Books;
	const rows = [row('made', { id: 'a' }, 2_000), row('charged', 'uncertain', 3_000)];
	expect(judge(rows, both, 2, 3_000).slotUse).toBeCloseTo(2 / 3);
});
