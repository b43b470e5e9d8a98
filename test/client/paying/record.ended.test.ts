import { UnansweredError, type RecordStore } from '../../../client/paying/record-store';
import { CancelledError } from '../../../client/api/errors';
import { inTime, one, type Records } from './records';

/** After the workflow's timeout n8n answers no call of the table: only writes that must not be lost are carried out. */

/** A record whose execution times out `afterMs` after it is opened. */
function timingOut(records: Records, afterMs: number) {
	const stop = new AbortController();
	records.time.at(records.time.now() + afterMs, () => stop.abort());
	// What is in flight at the timeout may be carried out later.
	const stopped = new Promise<never>((_, reject) =>
		stop.signal.addEventListener('abort', () => reject(new UnansweredError())),
	);
	stopped.catch(() => undefined);
	const unanswered = async <T>(call: Promise<T>) => await Promise.race([call, stopped]);
	const late = () => Promise.reject(new UnansweredError());
	const over = () => stop.signal.aborted;
	return records.recordOf(
		'first',
		{},
		stop.signal,
		(store): RecordStore => ({
			read: async (keys) => (over() ? await late() : await unanswered(store.read(keys))),
			insert: async (rows) => (over() ? await late() : await unanswered(store.insert(rows))),
			change: async (changes) => {
				const carriedOut = over() ? changes.filter(({ final }) => final) : changes;
				return await unanswered(store.change(carriedOut));
			},
			remove: async (wheres) => await unanswered(store.remove(wheres)),
		}),
	);
}

const keys = Array.from({ length: 400 }, (_, index) => `key ${index}`);

describe.each(Array.from({ length: 16 }, (_, index) => index * 10))(
	'a timeout %i ms after the step began',
	(afterMs) => {
		it('leaves no claims and no rows beside each other', async () => {
			await inTime(async (records) => {
				const record = timingOut(records, afterMs);
				await record.begin(keys);
				const sent = await record.send('key 0', one).catch((error: unknown) => error);
				if (sent === true) await record.withdraw('key 0', one);
				else expect(sent).toBeInstanceOf(CancelledError);
				await record.close();
				await records.time.sleep(1_000);
				expect(records.table.rows).toEqual([]);
			});
		});

		it('leaves one row for a generation that is made', async () => {
			await inTime(async (records) => {
				const record = timingOut(records, afterMs);
				await record.begin(['a']);
				const sent = await record.send('a', one).catch(() => false);
				await records.time.sleep(50);
				if (sent) await record.made('a', { id: 'made' });
				await record.close();
				await records.time.sleep(1_000);
				const rows = records.table.rows.map((row) => row.generation_id);
				expect(rows).toEqual(sent ? ['made'] : []);
			});
		});
	},
);

it('a claim that is being sent at the timeout is given back, also where the table does that first', async () => {
	await inTime(async (records) => {
		const record = timingOut(records, 300);
		await record.begin(['a']);
		records.changeMs.push(1_000);
		await expect(record.send('a', one)).rejects.toThrow(CancelledError);
		await record.close();
		await records.time.sleep(2_000);
		expect(records.table.rows).toEqual([]);
	});
});

it('after the end an id is written once, and no answer is waited for', async () => {
	await inTime(async (records) => {
		const record = timingOut(records, 300);
		await record.begin(['a']);
		await record.send('a', one);
		await records.time.sleep(300);
		const before = records.calls;
		await record.made('a', { id: 'made' });
		expect(records.calls - before).toBe(1);
		expect(record.unrecorded).toEqual(new Set());
		await record.close();
	});
});

it('nothing is claimed after a Stop, although the table still answers', async () => {
	await inTime(async (records) => {
		const record = records.recordOf('first', {}, AbortSignal.abort());
		await record.begin(['a']);
		expect(records.table.rows).toEqual([]);
		await record.close();
	});
});

it('nothing is found any more after the end: the step is stopped, and not failed', async () => {
	await inTime(async (records) => {
		const record = timingOut(records, 1);
		await records.time.sleep(5);
		await record.begin(['a']);
		await expect(record.find('a')).rejects.toThrow(CancelledError);
		await expect(record.send('a', one)).rejects.toThrow(CancelledError);
		await record.close();
		expect(records.table.rows).toEqual([]);
	});
});
