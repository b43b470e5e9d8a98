import { Ledger } from '../../../client/paying/ledger';
import { OrderBook, type Order } from '../../../client/paying/order-book';
import type { GenerationRecord } from '../../../client/paying/record';
import { GenerationError } from '../../../client/api/errors';
import { readGeneration, type Generation } from '../../../client/api/generation';
import { wireGeneration } from '../../support/answers';
import { creating } from '../../support/step';
import { inTime, type Records } from './records';

const halt = new AbortController().signal;

function generation(status: string): Generation {
	return readGeneration(wireGeneration({ id: 'made', status }), 0) as Generation;
}

async function orderOf(
	book: OrderBook,
	onUncertainCharge: 'error' | 'resubmit',
	key: string | null = 'a',
): Promise<Order> {
	const job = creating('a boat', 0, { idempotencyKey: key, onUncertainCharge });
	return book.order(job, await job.request());
}

/** The books of an execution, and an order that it has for the key. */
async function booksOf(
	records: Records,
	writer: string,
	onUncertainCharge: 'error' | 'resubmit' = 'error',
): Promise<{ book: OrderBook; ledger: Ledger; record: GenerationRecord; order: Order }> {
	const record = await records.open(writer);
	const ledger = new Ledger({}, 0);
	const book = new OrderBook({ ledger, record }, halt);
	return { book, ledger, record, order: await orderOf(book, onUncertainCharge) };
}

/** Has sent the order, and been killed or stopped before an answer came. */
async function leaveOpen(records: Records): Promise<void> {
	const { book, order } = await booksOf(records, 'first');
	await book.find(order);
	await book.intend(order);
	await book.leave(order);
}

describe('an order that another execution has left open', () => {
	it('is open, and says in which row, also once nothing more is sent for it', async () => {
		await inTime(async (records) => {
			await leaveOpen(records);
			const { book, order } = await booksOf(records, 'second');
			const open = { sent: 1, onRecord: expect.stringContaining('Row 1 of the data table') };
			expect(await book.find(order)).toEqual(open);
			expect(book.known(order)).toEqual(open);
		});
	});

	it('is not sent where the user does not take the risk', async () => {
		await inTime(async (records) => {
			await leaveOpen(records);
			const { book, order } = await booksOf(records, 'second', 'error');
			await book.find(order);
			expect(await book.intend(order)).toBeNull();
			expect(records.table.rows).toMatchObject([{ status: 'sent', writer: '' }]);
		});
	});

	it('is sent once more where the user takes it, and may have been charged twice then', async () => {
		await inTime(async (records) => {
			await leaveOpen(records);
			const { book, ledger, order } = await booksOf(records, 'second', 'resubmit');
			await book.find(order);
			expect(await book.intend(order)).toMatch(/^[0-9a-f]{32}$/);
			expect(ledger.find(order.key)?.sent).toBe(2);
			await book.leave(order);
			expect(book.known(order)).toMatchObject({ sent: 2, onRecord: expect.any(String) });
		});
	});
});

it('an order that another execution is sending is not open', async () => {
	await inTime(async (records) => {
		const first = await booksOf(records, 'first');
		await first.book.find(first.order);
		await first.book.intend(first.order);
		const { book, record, order } = await booksOf(records, 'second');
		const found = record.find('a');
		await records.time.sleep(3_000);
		expect(book.known(order)).toBeUndefined();
		await record.close();
		first.book.record(first.order, generation('processing'));
		await found;
	});
});

it('an order of which one answer was lost stays open when the next request is refused', async () => {
	await inTime(async (records) => {
		const { book, order } = await booksOf(records, 'first', 'resubmit');
		await book.find(order);
		await book.intend(order);
		await book.intend(order);
		await book.withdraw(order);
		expect(records.table.rows).toMatchObject([{ status: 'sent' }]);
		await book.withdraw(order);
		expect(records.table.rows).toMatchObject([{ status: 'claimed' }]);
	});
});

describe('the name of an order without a key', () => {
	it('is the same in every try, and another once its generation has failed', async () => {
		const kept = {};
		const bookOf = () => new OrderBook({ ledger: new Ledger(kept, 0) }, halt);
		const names: Array<string | null> = [];
		/** A try of the step that sends the order, and what comes of it. */
		const attempted = async (end: (book: OrderBook, order: Order) => unknown) => {
			const book = bookOf();
			const order = await orderOf(book, 'error', null);
			names.push(await book.intend(order));
			await end(book, order);
		};
		await attempted(async (book, order) => await book.withdraw(order));
		await attempted((book, order) => book.record(order, generation('failed')));
		await attempted(async (book, order) => await book.withdraw(order));
		await attempted((book, order) => book.record(order, generation('completed')));
		expect(names[1]).toBe(names[0]);
		expect(names[2]).not.toBe(names[0]);
		expect(names[3]).toBe(names[2]);
		expect(bookOf().known(await orderOf(bookOf(), 'error', null))).toMatchObject({ id: 'made' });
	});

	it('stays the same while it is open, also where its request comes out differently', async () => {
		const book = new OrderBook({ ledger: new Ledger({}, 0) }, halt);
		const recipe = () => ({ request: '={{ Math.random() }}', idempotencyKey: '' });
		const sent = async (prompt: string) => {
			const job = creating(prompt, 0, { recipe });
			return await book.intend(book.order(job, await job.request()));
		};
		expect(await sent('another boat')).toBe(await sent('a boat'));
	});
});

it('an order that another execution has left open keeps its name, also where the request has changed', async () => {
	await inTime(async (records) => {
		const first = await booksOf(records, 'first');
		await first.book.find(first.order);
		const name = await first.book.intend(first.order);
		await first.book.leave(first.order);
		records.table.rows[0].request = first.order.print;
		const { book, order } = await booksOf(records, 'second', 'resubmit');
		const changed = { ...order, print: 'another request' };
		await book.find(changed);
		expect(await book.intend(changed)).toBe(name);
	});
});

it('only of a generation that does not exist, or has no file, it is said which row has it', async () => {
	await inTime(async (records) => {
		const { book, order } = await booksOf(records, 'first');
		await book.find(order);
		await book.intend(order);
		book.record(order, generation('processing'));
		const error = (code: string) => new GenerationError({ title: 'No', description: '', code });
		for (const other of [error('forbidden'), new Error('Something')]) {
			expect(book.explain(order, other)).toBe(other);
		}
		const gone = error('download_failed');
		expect(book.explain(order, gone)).toBe(gone);
		expect(book.explain(order, gone.with({ status: 404 }))).toHaveProperty(
			'description',
			expect.stringMatching(/^Where the file is gone for good, delete row/),
		);
		expect(book.explain(order, error('generation_not_found'))).toMatchObject({
			message: 'Generation made does not exist',
			charge: 'none',
			generation: { id: 'made' },
		});
	});
});
