import { GenerationError } from '../../../client/api/errors';
import type { CallTable } from '../../../client/orders/table';
import { inTime, type Records } from './records';

/** A table whose database is locked, has no free connection, or restarts. */

const LOCKED = 'SQLITE_BUSY: database is locked';

/** Returns the table as it is while its database is locked, until `ends`. */
function locked(records: Records, ends: number, error: Error = new Error(LOCKED)) {
	let calls = 0;
	const reach =
		(table: CallTable): CallTable =>
		async (call) => {
			calls++;
			if (records.time.now() < ends) throw error;
			return await table(call);
		};
	return { reach, calls: () => calls };
}

describe('a table that is locked', () => {
	it('for 25 s delays an item, and does not fail it', async () => {
		await inTime(async (records) => {
			const since = records.time.now();
			const { reach } = locked(records, since + 25_000);
			const first = records.execution('first', {}, undefined, reach);
			await first.journal.begin(['a', 'another']);
			expect(await first.reserve()).toBe(true);
			await first.commit('made', 'completed');
			await first.journal.close();
			expect(records.table.rows).toMatchObject([{ generation_id: 'made', status: 'completed' }]);
			expect(records.time.now() - since).toBeLessThan(35_000);
		});
	});

	it('for longer is an error after half a minute that quotes the database', async () => {
		await inTime(async (records) => {
			const since = records.time.now();
			const { reach, calls } = locked(records, Infinity);
			const first = records.execution('first', {}, undefined, reach);
			await expect(first.journal.begin(['a', 'another'])).rejects.toMatchObject({
				code: 'record_unavailable',
				details: expect.stringContaining(LOCKED) as string,
				description: expect.stringMatching(/Run the same items again/) as string,
			});
			const took = records.time.now() - since;
			expect(took).toBeGreaterThanOrEqual(29_000);
			expect(took).toBeLessThan(32_000);
			expect(calls()).toBeGreaterThan(5);
			expect(calls()).toBeLessThan(15);
			await first.journal.close();
		});
	});

	it('is not called again after a stop', async () => {
		await inTime(async (records) => {
			const stop = new AbortController();
			const { reach, calls } = locked(records, Infinity);
			const first = records.execution('first', {}, stop.signal, reach);
			const since = records.time.now();
			records.time.at(since + 2_000, () => stop.abort());
			await first.journal.begin(['a', 'another']);
			expect(records.time.now() - since).toBe(2_000);
			const before = calls();
			await first.journal.close();
			expect(calls()).toBe(before);
		});
	});

	it('and that calling again cannot help is called once', async () => {
		await inTime(async (records) => {
			const full = new GenerationError({ title: 'Full', description: '', code: 'full' });
			const { reach, calls } = locked(records, Infinity, full);
			const first = records.execution('first', {}, undefined, reach);
			await expect(first.journal.begin(['a', 'another'])).rejects.toBe(full);
			expect(calls()).toBe(1);
			await first.journal.close();
		});
	});

	it('when an id is written gets that id, also if a stop ends the wait', async () => {
		await inTime(async (records) => {
			const stop = new AbortController();
			let isLocked = false;
			const reach =
				(table: CallTable): CallTable =>
				async (call) => {
					if (isLocked && !stop.signal.aborted) throw new Error(LOCKED);
					return await table(call);
				};
			const first = records.execution('first', {}, stop.signal, reach);
			await first.reserve();
			isLocked = true;
			await first.commit('made');
			records.time.at(records.time.now() + 3_000, () => stop.abort());
			await first.journal.close();
			expect(records.table.rows).toMatchObject([{ generation_id: 'made' }]);
		});
	});
});

describe('a row whose insertion got no answer', () => {
	it.each(['another key was read before', 'no key was read before'])(
		'is stored once, and its request is sent: %s',
		async (what) => {
			await inTime(async (records) => {
				const first = records.execution('first');
				if (what.startsWith('another')) await first.journal.begin(['a', 'another']);
				records.fates.push({ fails: 'after' }, { fails: 'after' });
				expect(await first.reserve()).toBe(true);
				await first.commit('made', 'completed');
				await first.journal.close();
				expect(records.table.rows).toMatchObject([{ generation_id: 'made', status: 'completed' }]);
			});
		},
	);

	it('is given up if another execution was first meanwhile', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			records.fates.push({ fails: 'before' });
			const reserved = first.reserve();
			await records.time.sleep(100);
			const second = await records.open('second');
			expect(await second.reserve()).toBe(true);
			await second.commit('made');
			expect(await reserved).toBe(false);
			expect(await first.entryOf()).toMatchObject({ state: 'made', id: 'made' });
			await first.journal.close();
			await second.journal.close();
			expect(records.table.rows).toHaveLength(1);
		});
	});

	it('of a generation whose row a user has given another ID is stored once', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.reserve();
			records.row.generation_id = 'by hand';
			records.fates.push({}, { fails: 'after' });
			await first.commit('made');
			await first.journal.close();
			const ids = records.table.rows.map(({ generation_id }) => generation_id);
			expect(ids).toEqual(['by hand', 'made']);
		});
	});

	it('of a generation whose row was deleted is stored once', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.reserve();
			records.table.rows.length = 0;
			records.fates.push({}, { fails: 'after' });
			await first.commit('made');
			await first.journal.close();
			expect(records.table.rows).toMatchObject([{ key: 'a', generation_id: 'made' }]);
		});
	});
});
