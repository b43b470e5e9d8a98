import { UnansweredError, type RecordStore } from '../../../client/paying/record-store';
import { CancelledError } from '../../../client/wire/errors';
import { inTime, one, type Records } from './records';

/** After the workflow's timeout n8n answers no call of the table: only writes that must not be lost are carried out. */

/** A record whose execution times out `afterMs` after it is opened. */
function timingOut(records: Records, afterMs: number) {
	const stop = new AbortController();
	records.time.at(records.time.now() + afterMs, () => stop.abort());
	const unanswered = async <T>(call: Promise<T>) => {
		const answer = await call;
		if (stop.signal.aborted) throw new UnansweredError();
		return answer;
	};
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
				const rows = records.table.rows.map((row) => row.generation_id);
				expect(rows).toEqual(sent ? ['made'] : []);
			});
		});
	},
);

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
