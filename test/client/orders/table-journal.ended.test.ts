import { UnansweredError } from '../../../client/orders/table';
import { CancelledError } from '../../../client/api/errors';
import { inTime, type Records } from './records';

/** After a workflow timeout, calls of the table get no response, and only writes that must not be lost are carried out. */

/** Starts an execution that times out `afterMs` after it begins. */
function timingOut(records: Records, afterMs: number) {
	const stop = new AbortController();
	const { signal } = stop;
	records.time.at(records.time.now() + afterMs, () => stop.abort());
	// A call in flight at the timeout may be carried out later.
	const stopped = new Promise<never>((_, reject) =>
		signal.addEventListener('abort', () => reject(new UnansweredError())),
	);
	stopped.catch(() => undefined);
	return records.execution('first', {}, signal, (table) => async (call) => {
		if (!signal.aborted) {
			const changes = call.changes.filter(({ final }) => final);
			const late = { changes, inserts: [], ifMissing: false, keys: [] };
			stopped.catch(() => (changes.length > 0 ? void table(late) : undefined));
			return await Promise.race([table(call), stopped]);
		}
		const changes = call.changes.filter(({ final }) => final);
		void table({ changes, inserts: [], ifMissing: false, keys: [] });
		return await Promise.reject(new UnansweredError());
	});
}

describe.each(Array.from({ length: 16 }, (_, index) => index * 10))(
	'a timeout %i ms after the step began',
	(afterMs) => {
		it('leaves no row for a request that was not sent', async () => {
			await inTime(async (records) => {
				const execution = timingOut(records, afterMs);
				await execution.journal.begin(['a', 'b']);
				const sent = await execution.reserve().catch((error: unknown) => error);
				if (sent === true) await execution.release();
				else expect(sent).toBeInstanceOf(CancelledError);
				await execution.journal.close();
				await records.time.sleep(1_000);
				expect(records.table.rows).toEqual([]);
			});
		});

		it('leaves one row for a generation that is created', async () => {
			await inTime(async (records) => {
				const execution = timingOut(records, afterMs);
				await execution.journal.begin(['a']);
				const sent = await execution.reserve().catch(() => false);
				await records.time.sleep(50);
				if (sent) await execution.commit('made');
				await execution.journal.close();
				await records.time.sleep(1_000);
				const rows = records.table.rows.map((row) => row.generation_id);
				expect(rows).toEqual(sent ? ['made'] : []);
			});
		});
	},
);

it('an id is written once after the end, without waiting for a response', async () => {
	await inTime(async (records) => {
		const execution = timingOut(records, 300);
		await execution.journal.begin(['a']);
		await execution.reserve();
		await records.time.sleep(300);
		const before = records.calls;
		await execution.commit('made');
		await execution.journal.close();
		expect(records.calls - before).toBe(1);
		expect(execution.journal.unrecorded.size).toBe(0);
	});
});

it('nothing is reserved after a Stop, although the table still responds', async () => {
	await inTime(async (records) => {
		const execution = records.execution('first', {}, AbortSignal.abort());
		await execution.journal.begin(['a', 'b']);
		await expect(execution.reserve()).rejects.toThrow(CancelledError);
		await expect(execution.stateOf()).rejects.toThrow(CancelledError);
		await execution.journal.close();
		expect(records.table.rows).toEqual([]);
	});
});
