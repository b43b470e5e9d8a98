import { inTime, one, other } from './records';

/** What the table holds of the generations of a step, also where it does not do as it is told. */

describe('an id', () => {
	it.each([
		['the answer of the table to it was lost', 'after'],
		['the table refused it at first', 'before'],
	] as const)('is on record once where %s', async (_, fails) => {
		await inTime(async (records) => {
			const record = await records.open('first');
			await record.send('a', one);
			records.changes.push(fails);
			await record.made('a', { id: 'made', status: 'processing' });
			await record.close();
			expect(records.table.rows).toMatchObject([{ generation_id: 'made', status: 'processing' }]);
			expect(record.unrecorded).toEqual(new Set());
		});
	});

	it('is that of a pending generation where nothing else is known', async () => {
		await inTime(async (records) => {
			const record = await records.open('first');
			await record.send('a', one);
			await record.made('a', { id: 'made' });
			expect(records.table.rows.at(-1)).toMatchObject({ generation_id: 'made', status: 'pending' });
		});
	});
});

describe('how a generation has ended', () => {
	it('stands in its row when the step is over', async () => {
		await inTime(async (records) => {
			const record = records.recordOf('first');
			await record.begin(['a', 'b', 'c']);
			for (const key of ['a', 'b', 'c']) {
				await record.send(key, one);
				await record.made(key, { id: `made ${key}` });
			}
			for (const key of ['a', 'b']) record.ended(key, { id: `made ${key}`, status: 'completed' });
			await record.close();
			expect(records.table.rows).toMatchObject([
				{ key: 'a', status: 'completed' },
				{ key: 'b', status: 'completed' },
				{ key: 'c', status: 'pending' },
			]);
		});
	});

	it('stands there before, where the step goes on', async () => {
		await inTime(async (records) => {
			const record = await records.open('first');
			await record.send('a', one);
			await record.made('a', { id: 'made' });
			record.ended('a', { id: 'made', status: 'completed' });
			await records.time.sleep(20_000);
			expect(records.table.rows).toMatchObject([{ key: 'a', status: 'completed' }]);
			await record.close();
		});
	});

	it('where it failed lets another execution make it anew', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.send('a', one);
			await first.made('a', { id: 'made' });
			first.ended('a', { id: 'made', status: 'failed' });
			await first.close();
			expect(records.table.rows).toMatchObject([{ generation_id: 'made', status: 'failed' }]);
			const second = await records.open('second');
			expect((await second.find('a')).state).toBe('free');
		});
	});

	it('where it failed, and the table cannot be told, is said', async () => {
		await inTime(async (records) => {
			const record = await records.open('first');
			await record.send('a', one);
			await record.made('a', { id: 'made' });
			records.down = true;
			record.ended('a', { id: 'made', status: 'failed' });
			await record.close();
			expect(record.unrecorded).toEqual(new Set(['a']));
		});
	});
});

describe('while a request is under way', () => {
	it('only its own row is touched: neither what is claimed beside it nor what others have sent', async () => {
		await inTime(async (records) => {
			const [first, second] = [records.recordOf('first'), records.recordOf('second')];
			await first.begin(['a', 'b']);
			await second.begin(['c']);
			await second.send('c', other);
			const before = records.table.rows.map((row) => ({ ...row }));
			await first.send('a', one);
			await records.time.sleep(14_000);
			await second.leave('c', other);
			await records.time.sleep(14_000);
			const [a, b, c] = records.table.rows;
			expect(a).toMatchObject({ key: 'a', status: 'sent' });
			expect(a.changedAt).toBeGreaterThan((before[0].changedAt ?? 0) + 14_000);
			expect(b).toEqual(before[1]);
			expect(c).toMatchObject({ key: 'c', status: 'sent', writer: '' });
			await Promise.all([first.close(), second.close()]);
		});
	});

	it('and left without an answer it is open at once, for whoever asks', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.send('a', one);
			await first.leave('a', one);
			const second = await records.open('second');
			const before = records.time.now();
			expect((await first.find('a')).state).toBe('open');
			expect((await second.find('a')).state).toBe('open');
			expect(records.time.now() - before).toBeLessThan(1_000);
		});
	});
});

describe('the name of an order', () => {
	it('is the same in every execution, also where its row was taken away and claimed anew', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			const name = first.nameOf('a', 'request');
			await first.close();
			expect(records.table.rows).toEqual([]);
			const second = await records.open('second');
			expect(second.nameOf('a', 'request')).toBe(name);
		});
	});

	it('is another for another key, node, workflow and request, and after each failed generation', async () => {
		await inTime(async (records) => {
			const names: string[] = [];
			for (const scope of [{}, { nodeId: 'another' }, { workflowId: 'another' }]) {
				const record = records.recordOf('first', scope);
				await record.begin(['a', 'b']);
				names.push(...['a', 'b'].map((key) => record.nameOf(key, 'request')));
				names.push(record.nameOf('a', 'another request'));
				for (const id of ['made', 'made anew']) {
					await record.send('a', one);
					await record.made('a', { id });
					record.ended('a', { id, status: 'failed' });
					await record.find('a');
					names.push(record.nameOf('a', 'request'));
				}
				await record.close();
			}
			expect(names.every((name) => /^[0-9a-f]{32}$/.test(name))).toBe(true);
			expect(new Set(names).size).toBe(15);
		});
	});

	it('counts what failed in other executions', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.send('a', one);
			await first.made('a', { id: 'made' });
			first.ended('a', { id: 'made', status: 'failed' });
			await first.find('a');
			const name = first.nameOf('a', 'request');
			await first.close();
			const second = await records.open('second');
			expect(second.nameOf('a', 'request')).toBe(name);
		});
	});
});
