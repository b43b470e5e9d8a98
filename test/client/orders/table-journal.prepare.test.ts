import { creating } from '../../support/step';
import { inTime } from './records';

/** An order that is reserved ahead of its request. */

describe('an order that is reserved ahead', () => {
	it('is sent without another table call', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.prepare();
			expect(records.table.rows).toMatchObject([{ key: 'a', status: 'sent' }]);
			const before = records.calls;
			expect(await first.reserve()).toBe(true);
			expect(records.calls).toBe(before);
			await first.commit('made');
			await first.journal.close();
			expect(records.table.rows).toMatchObject([{ generation_id: 'made' }]);
		});
	});

	it('is read again after 5 s, and not sent if a user has entered an ID', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.prepare();
			await records.time.sleep(5_001);
			records.row.generation_id = 'by hand';
			expect(await first.reserve()).toBe(false);
			expect(await first.entryOf()).toMatchObject({ state: 'made', id: 'by hand' });
			await first.journal.close();
		});
	});

	it('keeps other executions waiting, for as long as its own is alive', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.prepare();
			const entry = (await records.open('waiting')).entryOf();
			await records.time.sleep(120_000);
			expect(await first.reserve()).toBe(true);
			await first.commit('made');
			expect(await entry).toMatchObject({ state: 'made', id: 'made' });
			await first.journal.close();
		});
	});

	it('is deleted if its request is never sent', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.prepare();
			await first.abandon();
			await first.journal.close();
			expect(records.table.rows).toEqual([]);
			expect(await first.stateOf()).toBe('none');
		});
	});

	it('stays unresolved if its request got no response', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.prepare();
			await first.reserve();
			await first.abandon();
			await first.journal.close();
			expect(records.table.rows).toMatchObject([{ status: 'sent', writer: '' }]);
		});
	});

	it('leaves its place to another item with the same key that is sent first', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			const job = creating('a boat', 1, { idempotencyKey: 'a' });
			await first.prepare('a', Promise.resolve(first.journal.order(job, await job.request())));
			expect(await first.reserve()).toBe(true);
			await first.commit('made');
			await first.journal.close();
			expect(records.table.rows).toMatchObject([{ generation_id: 'made' }]);
		});
	});

	it('is not reserved if the table has a row for its key', async () => {
		await inTime(async (records) => {
			const other = await records.open('other');
			await other.reserve();
			const first = await records.open('first');
			await first.prepare();
			expect(records.table.rows).toHaveLength(1);
			await other.commit('made');
			await other.journal.close();
		});
	});
});
