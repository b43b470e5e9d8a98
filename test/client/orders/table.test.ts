import {
	newRow,
	requestFields,
	rowInForce,
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

describe('of several rows of a key', () => {
	it.each<[what: string, rows: Row[], counts: number | undefined]>([
		['none counts where there is none', [], undefined],
		['what was made counts, though it is the newest', [claim(1), sent(2), made(3)], 3],
		['what was sent counts before an older claim', [claim(1), sent(2)], 2],
		['the oldest claim counts, in whatever order they come', [claim(3), claim(1), claim(2)], 1],
		['the oldest of what was made counts', [made(2), made(1)], 1],
		['what has failed does not count', [failed(1), claim(2)], 2],
		['what has failed alone is none', [failed(1)], undefined],
	])('%s', (_, rows, counts) => {
		expect(rowInForce([...rows])?.id).toBe(counts);
		expect(rowInForce([...rows].reverse())?.id).toBe(counts);
	});
});

describe('a key is kept', () => {
	it.each([
		['as it is', 'shoe-42', 'shoe-42'],
		['as it is up to 300 letters', 'x'.repeat(300), 'x'.repeat(300)],
		['without what PostgreSQL does not take', 'a\0b', 'a\uFFFDb'],
		['without half a character, which no database gives back', 'a\uD83D', 'a\uFFFD'],
		['with whole ones', '\u{1F6A2}', '\u{1F6A2}'],
	])('%s', (_, key, stored) => expect(storedKey(key)).toBe(stored));

	it('shortened where it is longer, and still another than one that begins the same', () => {
		const [one, other] = [storedKey(`${'x'.repeat(300)}1`), storedKey(`${'x'.repeat(300)}2`)];
		expect(one).toMatch(/^x{300}… [0-9a-f]{32}$/);
		expect(other).not.toBe(one);
	});

	it('shortened to whole characters', () => {
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
