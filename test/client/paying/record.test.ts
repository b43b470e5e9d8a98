import type { GenerationRecord } from '../../../client/paying/record';
import { inTime, one, other, type Records } from './records';

it('what became open while an item stood in line is not sent by it', async () => {
	await inTime(async (records) => {
		const record = await records.open('first');
		expect((await record.find('a')).state).toBe('free');
		await record.send('a', one);
		await record.leave('a', one);
		expect(await record.send('a', other)).toBe(false);
		const found = await record.find('a');
		expect(found.state).toBe('open');
		expect(await record.send('a', other, found.row)).toBe(true);
	});
});

it('a request that takes minutes is not called gone, as its writer is heard of', async () => {
	await inTime(async (records) => {
		const slow = await records.open('slow');
		await slow.send('a', one);
		const waiting = await records.open('waiting');
		const found = waiting.find('a');
		await records.time.sleep(300_000);
		void slow.made('a', { id: 'made' });
		expect(await found).toMatchObject({ state: 'made', row: { generation_id: 'made' } });
	});
});

it('a writer that was not heard of for a minute is gone, and what it sent is open', async () => {
	await inTime(async (records) => {
		const dead = await records.open('dead');
		await dead.send('a', one);
		Object.assign(records.row, { writer: 'another process/1' });
		const sentAt = records.time.now();
		const waiting = await records.open('waiting');
		expect((await waiting.find('a')).state).toBe('open');
		expect(records.time.now() - sentAt).toBeGreaterThanOrEqual(59_000);
		expect(records.time.now() - sentAt).toBeLessThan(63_000);
	});
});

it('an id on its way into the table is not overlooked by a twin that claims the key meanwhile', async () => {
	await inTime(async (records) => {
		records.insertMs.push(30, 520);
		records.changeMs.push(20, 3020);
		const record = records.recordOf('both');
		const first = record.find('a');
		await records.time.sleep(5);
		const second = record.find('a');
		expect((await first).state).toBe('free');
		expect(await record.send('a', one)).toBe(true);
		void record.made('a', { id: 'made', status: 'pending' });
		expect(await second).toMatchObject({ state: 'made', row: { generation_id: 'made' } });
	});
});

it('a writer whose clock is behind is not gone while its row changes', async () => {
	await inTime(async (records) => {
		const slow = await records.open('slow');
		await slow.send('a', one);
		Object.assign(records.row, { changedAt: records.time.now() - 100_000 });
		const found = (await records.open('waiting')).find('a');
		await records.time.sleep(10_000);
		void slow.made('a', { id: 'made' });
		expect(await found).toMatchObject({ state: 'made', row: { generation_id: 'made' } });
	});
});

it.each([-180, -3_600, 180])(
	'a writer whose clock is %i s off is not taken for dead while it sends heartbeats',
	async (seconds) => {
		await inTime(async (records) => {
			const slow = await records.open('slow');
			await slow.send('a', one);
			records.skews.push(seconds * 1000);
			const found = (await records.open('waiting')).find('a');
			await records.time.sleep(300_000);
			void slow.made('a', { id: 'made' });
			expect(await found).toMatchObject({ state: 'made', row: { generation_id: 'made' } });
			expect(records.table.rows).toHaveLength(1);
		});
	},
);

describe('ten keys that a dead process has left open', () => {
	const keys = Array.from({ length: 10 }, (_, index) => `key ${index}`);

	async function left(records: Records): Promise<void> {
		const dead = records.recordOf('dead');
		await dead.begin(keys);
		for (const key of keys) await dead.send(key, one);
		for (const row of records.table.rows)
			row.writer = row.writer.replace('dead', 'another process');
		await dead.close();
	}

	async function secondsFor(record: GenerationRecord, records: Records): Promise<number> {
		const since = records.time.now();
		for (const key of keys) expect((await record.find(key)).state).toBe('open');
		return (records.time.now() - since) / 1000;
	}

	it('are known to be open after one minute, and not after ten', async () => {
		await inTime(async (records) => {
			await left(records);
			const record = records.recordOf('next');
			await record.begin(keys);
			expect(await secondsFor(record, records)).toBeLessThan(75);
		});
	});

	it('are known at once where the minute has passed while other items were made', async () => {
		await inTime(async (records) => {
			await left(records);
			const record = records.recordOf('next');
			await record.begin(keys);
			await records.time.sleep(80_000);
			expect(await secondsFor(record, records)).toBeLessThan(2);
		});
	});

	it('are known at once in the executions after that', async () => {
		await inTime(async (records) => {
			await left(records);
			const [next, last] = [records.recordOf('next'), records.recordOf('last')];
			await next.begin(keys);
			await secondsFor(next, records);
			await last.begin(keys);
			expect(await secondsFor(last, records)).toBeLessThan(3);
		});
	});
});

it('a writer that was paused, and taken for dead, still writes its id into its row', async () => {
	await inTime(async (records) => {
		const paused = await records.open('paused');
		await paused.send('a', one);
		// Nothing of it is heard for more than a minute.
		Object.assign(records.row, { writer: 'paused/1', changedAt: 1 });
		records.deaf.add('paused');
		const waiting = await records.open('waiting');
		expect((await waiting.find('a')).state).toBe('open');
		expect(records.row.writer).toBe('');
		records.deaf.clear();
		await paused.made('a', { id: 'made' });
		expect(records.table.rows).toMatchObject([{ generation_id: 'made' }]);
	});
});

it('a process that was paused itself does not take a living writer for dead', async () => {
	await inTime(async (records) => {
		const slow = await records.open('slow');
		await slow.send('a', one);
		const waiting = await records.open('waiting');
		// Both are on one machine, which sleeps for an hour between two reads.
		const found = waiting.find('a');
		await records.time.sleep(2_000);
		records.jumpMs += 3_600_000;
		await records.time.sleep(2_000);
		expect(records.row.writer).not.toBe('');
		void slow.made('a', { id: 'made' });
		expect((await found).state).toBe('made');
	});
});

it('a generation that has failed at once is made anew', async () => {
	await inTime(async (records) => {
		const record = await records.open('first');
		await record.send('a', one);
		const failed = { id: 'failed', status: 'failed' };
		void record.made('a', failed);
		record.ended('a', failed);
		expect((await record.find('a')).state).toBe('free');
		expect(await record.send('a', other)).toBe(true);
	});
});

it('a writer whose clock is wrong is gone when its row has stood still for a minute', async () => {
	await inTime(async (records) => {
		const dead = await records.open('dead');
		await dead.send('a', one);
		const tomorrow = records.time.now() + 86_400_000;
		Object.assign(records.row, { writer: 'another process/1', changedAt: tomorrow });
		const waiting = await records.open('waiting');
		expect((await waiting.find('a')).state).toBe('open');
	});
});

it('a claim beside another that cannot be removed is an error, and not a loop without an end', async () => {
	await inTime(async (records) => {
		await Promise.all([records.open('first'), records.open('second')]);
		records.table.rows.push({ ...records.row, id: 99, writer: 'another process/1' });
		const third = records.recordOf('third', {}, undefined, (store) => ({
			...store,
			remove: async (wheres) => await Promise.resolve(wheres.map(() => [])),
		}));
		await expect(third.begin(['a'])).rejects.toMatchObject({ code: 'record_unavailable' });
	});
});

it('a request that another execution never brings to an end is an error after the Timeout', async () => {
	await inTime(async (records) => {
		const slow = await records.open('slow');
		await slow.send('a', one);
		const since = records.time.now();
		const found = (await records.open('waiting')).find('a', undefined, 200_000);
		await expect(found).rejects.toMatchObject({
			code: 'record_unavailable',
			description: expect.stringContaining('Execution slow is still sending') as string,
		});
		expect(records.time.now() - since).toBeLessThan(205_000);
		await slow.leave('a', one);
	});
});

it('a claim is free for whoever is ready first', async () => {
	await inTime(async (records) => {
		const [first, second] = [await records.open('first'), await records.open('second')];
		expect(await second.send('a', other)).toBe(true);
		expect(await first.send('a', one)).toBe(false);
		expect(records.table.rows).toHaveLength(1);
	});
});

it('an id that cannot be written down is told of, and the others wait for nobody', async () => {
	await inTime(async (records) => {
		const record = await records.open('first');
		await record.send('a', one);
		records.down = true;
		await record.made('a', { id: 'made' });
		expect([...record.unrecorded]).toEqual(['a']);
		records.down = false;
		expect((await record.find('a')).row.generation_id).toBe('made');
		await record.close();
	});
});

it('claims of which nothing came are taken back in the end', async () => {
	await inTime(async (records) => {
		const record = await records.open('first');
		await record.close();
		expect(records.table.rows).toEqual([]);
	});
});

it('a row that a user deletes while its request is under way is on record all the same', async () => {
	await inTime(async (records) => {
		const record = await records.open('first');
		await record.send('a', one);
		records.table.rows.length = 0;
		await record.made('a', { id: 'made', status: 'pending' });
		expect(records.table.rows).toMatchObject([{ key: 'a', generation_id: 'made' }]);
	});
});

it('what was found open and was sent by another since is not sent once more', async () => {
	await inTime(async (records) => {
		const [first, second] = [await records.open('first'), await records.open('second')];
		await first.send('a', one);
		await first.leave('a', one);
		const open = async (record: GenerationRecord) => (await record.find('a')).row;
		await second.send('a', other);
		const [byFirst, bySecond] = [await open(first), await open(second)];
		expect(await second.send('a', other, bySecond)).toBe(true);
		expect(await first.send('a', one, byFirst)).toBe(false);
		void first.find('a');
		await records.time.sleep(5_000);
		expect(await first.send('a', one, byFirst)).toBe(false);
		await second.made('a', { id: 'made' });
	});
});

it('what is to be sent while an id is being written goes together, right after it', async () => {
	await inTime(async (records) => {
		const record = records.recordOf('only');
		await record.begin(['a', 'b', 'c', 'd']);
		await record.send('a', one);
		const before = records.calls;
		records.changeMs.push(200);
		const made = record.made('a', { id: 'made' });
		const sent = ['b', 'c', 'd'].map(async (key, index) => {
			await records.time.sleep(50 * index);
			return await record.send(key, one);
		});
		await made;
		expect(await Promise.all(sent)).toEqual([true, true, true]);
		expect(records.calls - before).toBe(2);
	});
});

it('an id is on record at once, however long the table takes for what is to be sent', async () => {
	await inTime(async (records) => {
		const record = records.recordOf('only');
		await record.begin(['a', 'b']);
		await record.send('a', one);
		records.changeMs.push(60_000);
		const sent = record.send('b', other);
		await records.time.sleep(1);
		await record.made('a', { id: 'made' });
		expect(records.row).toMatchObject({ key: 'a', generation_id: 'made' });
		expect(records.table.rows.find(({ key }) => key === 'b')?.status).toBe('claimed');
		await sent;
	});
});

it('what was open stays open where it is sent once more and refused', async () => {
	await inTime(async (records) => {
		const record = await records.open('first');
		await record.send('a', one);
		await record.leave('a', one);
		const { row } = await record.find('a');
		expect(await record.send('a', other, row)).toBe(true);
		await record.withdraw('a', other);
		expect((await record.find('a')).state).toBe('open');
	});
});

it('a table that takes minutes for every write ends as an error, and not in an endless retry', async () => {
	await inTime(async (records) => {
		const record = await records.open('slow');
		records.changeMs.push(...Array.from({ length: 100 }, () => 50_000));
		const sending = (async () => {
			while (!(await record.send('a', one))) await record.find('a');
		})();
		await expect(sending).rejects.toMatchObject({ code: 'record_unavailable' });
	});
});
