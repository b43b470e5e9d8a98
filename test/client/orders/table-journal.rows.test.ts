import { inTime } from './records';

/** The rows of the table for a generation, from before its request to its end. */

describe('a row', () => {
	it('exists before the request is sent, and is deleted if the request is rejected', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.reserve();
			expect(records.table.rows).toMatchObject([{ key: 'a', status: 'sent', prompt: 'a boat' }]);
			await first.release();
			await first.journal.close();
			expect(records.table.rows).toEqual([]);
		});
	});

	it('gets its status, even if a read that started before its id was written ends later', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.reserve();
			records.fates.push({ afterMs: 5_000 });
			const late = first.journal.begin(['a', 'another']);
			await records.time.sleep(1_000);
			await first.commit('made');
			await late;
			await first.commit('made', 'completed');
			await first.journal.close();
			expect(records.table.rows).toMatchObject([{ status: 'completed' }]);
		});
	});

	it('to which a user adds an id during the request stays, even if the request is rejected', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.reserve();
			records.row.generation_id = 'by hand';
			await first.release();
			await first.journal.close();
			expect(records.table.rows).toMatchObject([{ key: 'a', generation_id: 'by hand' }]);
		});
	});

	it('that a user deletes during the request is written again with the id', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.reserve();
			records.table.rows.length = 0;
			await first.commit('made');
			await first.journal.close();
			expect(records.table.rows).toMatchObject([{ key: 'a', generation_id: 'made' }]);
		});
	});

	it('of an execution that was paused and taken for dead still gets its id', async () => {
		await inTime(async (records) => {
			const paused = await records.open('paused');
			await paused.reserve();
			records.deaf.add('paused');
			expect(await (await records.open('waiting')).stateOf()).toBe('sent');
			expect(records.row.writer).toBe('');
			records.deaf.clear();
			await paused.commit('made');
			await paused.journal.close();
			expect(records.table.rows).toMatchObject([{ generation_id: 'made' }]);
		});
	});

	it('stays the only one of its generation if the response to the write of the id is lost', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.reserve();
			records.fates.push({ fails: 'after' });
			await first.commit('made', 'processing');
			await first.journal.close();
			expect(records.table.rows).toMatchObject([{ generation_id: 'made', status: 'processing' }]);
			expect(first.journal.unrecorded.size).toBe(0);
		});
	});

	it('gets the final status when the step ends, or after a few seconds', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.reserve();
			await first.commit('made');
			await first.commit('made', 'completed');
			await records.time.sleep(20_000);
			expect(records.row.status).toBe('completed');
			await first.reserve('another');
			await first.commit('other', 'pending', 'another');
			await first.commit('other', 'completed', 'another');
			await first.journal.close();
			expect(records.table.rows.map(({ status }) => status)).toEqual(['completed', 'completed']);
		});
	});

	it('that could not be written is named, and its item is not lost', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.reserve();
			records.down = true;
			await first.commit('made');
			await records.time.sleep(40_000);
			expect([...first.journal.unrecorded.keys()]).toEqual(['a']);
			records.down = false;
			expect(await first.entryOf()).toMatchObject({ state: 'made', id: 'made' });
			await first.journal.close();
		});
	});
});
