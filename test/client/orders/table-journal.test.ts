import { creating } from '../../support/step';
import { generationOf, inTime, type Execution, type Records } from './records';

/** Guarantees for two executions with the same key. */

const resubmit = { onUncertainCharge: 'resubmit' } as const;

describe('while another execution is sending the request of a key', () => {
	it('the other one waits for its id, for any number of minutes', async () => {
		await inTime(async (records) => {
			const slow = await records.open('slow');
			await slow.reserve();
			const entry = (await records.open('waiting')).entryOf();
			await records.time.sleep(300_000);
			await slow.commit('made');
			expect(await entry).toMatchObject({ state: 'made', id: 'made' });
		});
	});

	it.each([-180, -3_600, 180])('a clock that is %i s off changes nothing', async (seconds) => {
		await inTime(async (records) => {
			const slow = await records.open('slow');
			records.skewMs = seconds * 1000;
			await slow.reserve();
			const entry = (await records.open('waiting')).entryOf();
			await records.time.sleep(300_000);
			await slow.commit('made');
			expect(await entry).toMatchObject({ state: 'made', id: 'made' });
			expect(records.table.rows).toHaveLength(1);
		});
	});

	it('a pause of one process does not make the other one appear dead', async () => {
		await inTime(async (records) => {
			const slow = await records.open('slow');
			await slow.reserve();
			const entry = (await records.open('waiting')).entryOf('a', { timeoutMs: 1e9 });
			// Both run on one machine, which sleeps for an hour between two reads.
			await records.time.sleep(2_000);
			records.jumpMs += 3_600_000;
			await records.time.sleep(2_000);
			expect(records.row.writer).not.toBe('');
			await slow.commit('made');
			expect((await entry).state).toBe('made');
		});
	});

	it('the wait ends with an error after the timeout', async () => {
		await inTime(async (records) => {
			const slow = await records.open('slow');
			await slow.reserve();
			const since = records.time.now();
			const entry = (await records.open('waiting')).entryOf('a', { timeoutMs: 200_000 });
			await expect(entry).rejects.toMatchObject({
				code: 'record_unavailable',
				message: 'Another execution is still sending this item',
				details: expect.stringContaining('It is execution slow,') as string,
				description: expect.stringMatching(
					/^That execution may still be charged.*Wait until it ends.*Keep the Idempotency Key/,
				) as string,
			});
			expect(records.time.now() - since).toBeLessThan(205_000);
			await slow.abandon();
		});
	});

	it('an abandoned request is unresolved at once', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.reserve();
			await first.abandon();
			const second = await records.open('second');
			const since = records.time.now();
			expect([await first.stateOf(), await second.stateOf()]).toEqual(['sent', 'sent']);
			expect(records.time.now() - since).toBeLessThan(1_000);
		});
	});
});

describe('an unresolved request', () => {
	/** Starts two executions that have found the request. */
	async function found(records: Records): Promise<Execution[]> {
		const first = await records.open('first');
		await first.reserve();
		await first.abandon();
		const second = await records.open('second');
		for (const execution of [first, second]) await execution.entryOf('a', resubmit);
		return [first, second];
	}

	it('is sent again by only one execution', async () => {
		await inTime(async (records) => {
			const [first, second] = await found(records);
			expect(await second.reserve()).toBe(true);
			expect(await first.reserve()).toBe(false);
			await second.commit('made');
			expect(records.table.rows).toHaveLength(1);
		});
	});

	it('keeps its header, and stays unresolved if it is rejected when sent again', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			const header = await first.headerOf();
			await first.abandon();
			const second = await records.open('second');
			await second.entryOf('a', resubmit);
			expect(await second.headerOf()).toBe(header);
			await second.release();
			await second.abandon();
			expect(await (await records.open('third')).stateOf()).toBe('sent');
		});
	});

	it('of an item that had no key yet gets a row that stays, even if it is rejected when sent again', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			const job = creating('a boat', 0);
			await first.journal.reserve(first.journal.order(job, await job.request()));
			expect(await first.entryOf('a', resubmit)).toMatchObject({ state: 'sent' });
			await first.reserve();
			await first.release();
			await first.abandon();
			await first.journal.close();
			expect(records.table.rows).toMatchObject([{ key: 'a', status: 'sent', generation_id: '' }]);
			expect(await (await records.open('next')).stateOf()).toBe('sent');
		});
	});

	it('is not sent again if another execution was observed to send it in the meantime', async () => {
		await inTime(async (records) => {
			const [one, other] = await found(records);
			expect(await other.reserve()).toBe(true);
			await one.journal.begin(['a', 'another']);
			expect(await one.reserve()).toBe(false);
		});
	});
});

describe('a generation that failed', () => {
	it('gets no second row in an execution that created it before its item had a key', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.reserve();
			await first.commit('made');
			await first.commit('made', 'failed');
			await first.journal.close();
			const next = await records.open('next');
			const job = creating('a boat');
			const order = next.journal.order(job, await job.request());
			await next.journal.reserve(order);
			next.journal.commit(order, generationOf('made'));
			expect(await next.stateOf()).toBe('made');
			await next.journal.close();
			expect(records.table.rows).toMatchObject([{ status: 'failed' }]);
		});
	});

	it('is created again, with a new header that counts failures of other executions', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			const headers = [await first.headerOf()];
			await first.commit('failed', 'failed');
			expect(await first.stateOf()).toBe('none');
			await first.journal.close();
			for (const name of ['second', 'third']) {
				const next = await records.open(name);
				expect(await next.stateOf()).toBe('none');
				headers.push(await next.headerOf());
				await next.release();
				await next.journal.close();
			}
			expect(headers[1]).not.toBe(headers[0]);
			expect(headers[2]).toBe(headers[1]);
		});
	});
});

describe('two executions that reserve a key at the same moment', () => {
	it.each(Array.from({ length: 12 }, (_, index) => index * 10))(
		'send one request (%i ms apart)',
		async (apartMs) => {
			await inTime(async (records) => {
				const all = [await records.open('first'), await records.open('second')];
				// The first execution gets its row id first, and may write it last.
				records.fates.push({ beforeMs: 60 });
				const reserved = all.map(async (execution, index) => {
					await records.time.sleep(index * apartMs);
					return await execution.reserve();
				});
				expect((await Promise.all(reserved)).filter(Boolean)).toHaveLength(1);
				for (const execution of all) await execution.release();
				await Promise.all(all.map(async ({ journal }) => await journal.close()));
				expect(records.table.rows).toEqual([]);
			});
		},
	);
});

describe('calls of the table', () => {
	it('are few: three for a generation that is created, one for one that is reused', async () => {
		await inTime(async (records) => {
			const first = records.execution('first');
			await first.journal.begin(['a']);
			await first.reserve();
			await first.commit('made');
			await records.time.sleep(2_000);
			await first.commit('made', 'completed');
			await first.journal.close();
			expect(records.calls).toBe(3);
			const second = records.execution('second');
			await second.journal.begin(['a']);
			expect(await second.reserve()).toBe(false);
			expect(await second.stateOf()).toBe('made');
			await second.journal.close();
			expect(records.calls).toBe(4);
		});
	});

	it('that take minutes end with an error, not in endless retries', async () => {
		await inTime(async (records) => {
			const slow = await records.open('slow');
			records.fates.push(...Array.from({ length: 100 }, () => ({ beforeMs: 50_000 })));
			const sending = (async () => {
				while (!(await slow.reserve())) await slow.stateOf();
			})();
			await expect(sending).rejects.toMatchObject({ code: 'record_unavailable' });
		});
	});
});
