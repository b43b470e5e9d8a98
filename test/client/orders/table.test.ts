import {
	newRow,
	requestFields,
	rowsInForce,
	SENT,
	storedKey,
	type Row,
} from '../../../client/orders/table';

const scope = { workflowId: 'w', nodeId: 'n', executionId: 'e', writer: 'u' };

function row(id: number, changes: Partial<Row> = {}): Row {
	return { ...newRow(scope, 'a'), writer: `u/${id}`, id, changedAt: null, ...changes };
}

const claim = (id: number) => row(id, { status: 'claimed' });
const sent = (id: number) => row(id, { status: SENT });
const made = (id: number, changes: Partial<Row> = {}) =>
	row(id, { status: 'completed', generation_id: `g${id}`, ...changes });
const failed = (id: number) => made(id, { status: 'failed' });

describe('among several rows of a key', () => {
	it.each<[what: string, rows: Row[], counts: number | undefined]>([
		['no row counts if there is none', [], undefined],
		['a created generation counts, even if its row is the newest', [claim(1), sent(2), made(3)], 3],
		['a sent request takes precedence over an older claim', [claim(1), sent(2)], 2],
		['the oldest claim counts, in any order of the rows', [claim(3), claim(1), claim(2)], 1],
		['the oldest created generation counts', [made(2), made(1)], 1],
		['a failed generation does not count', [failed(1), claim(2)], 2],
		['a failed generation does not count even if it is the only row', [failed(1)], undefined],
	])('%s', (_, rows, counts) => {
		expect(rowsInForce(rows).get('a')?.id).toBe(counts);
		expect(rowsInForce([...rows].reverse()).get('a')?.id).toBe(counts);
	});

	it('each key has its own rows', () => {
		const other = (one: Row): Row => ({ ...one, key: 'b' });
		const rows = [claim(1), other(sent(2)), failed(3), other(made(4)), sent(5), other(made(6))];
		const counts = (all: Row[]) => [...rowsInForce(all)].map(([key, { id }]) => [key, id]).sort();
		const expected = [
			['a', 5],
			['b', 4],
		];
		expect(counts(rows)).toEqual(expected);
		expect(counts([...rows].reverse())).toEqual(expected);
		expect(rowsInForce([failed(1)]).size).toBe(0);
	});
});

describe('a key is stored', () => {
	it.each([
		['unchanged', 'shoe-42', 'shoe-42'],
		['unchanged up to 300 characters', 'x'.repeat(300), 'x'.repeat(300)],
		['without characters that PostgreSQL rejects', 'a\0b', 'a\uFFFDb'],
		['without half of a surrogate pair, which no database returns', 'a\uD83D', 'a\uFFFD'],
		['with complete surrogate pairs', '\u{1F6A2}', '\u{1F6A2}'],
	])('%s', (_, key, stored) => expect(storedKey(key)).toBe(stored));

	it('shortened if it is too long, and still distinct from another with the same beginning', () => {
		const [one, other] = [storedKey(`${'x'.repeat(300)}1`), storedKey(`${'x'.repeat(300)}2`)];
		expect(one).toMatch(/^x{300}… [0-9a-f]{32}$/);
		expect(other).not.toBe(one);
	});

	it('shortened without splitting a character', () => {
		expect(storedKey(`${'x'.repeat(299)}\u{1F6A2} at sea`)).toMatch(/^x{299}\uFFFD… [0-9a-f]{32}$/);
	});
});

const storedPrompt = (prompt: string) => requestFields({ type: 'image', body: { prompt } }).prompt;

it('the beginning of a prompt is stored', () => {
	expect(storedPrompt('a\0 boat')).toBe('a\uFFFD boat');
	expect(storedPrompt('x'.repeat(200))).toBe('x'.repeat(200));
	expect(storedPrompt('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`);
	expect(storedPrompt(`${'x'.repeat(199)}\u{1F6A2}`)).toBe(`${'x'.repeat(199)}\uFFFD…`);
});
