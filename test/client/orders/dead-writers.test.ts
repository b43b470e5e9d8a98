import { inTime, type Execution, type Records } from './records';

/** How a request is treated if its execution died before it wrote the id. */

/** Kills the writer of the first row. */
function kill(records: Records): void {
	for (const row of records.table.rows) row.writer = `dead ${row.writer}`;
}

describe('a request of an execution that died', () => {
	it.each([0, 86_400_000])(
		'is unresolved after a minute (its clock: %i ms ahead)',
		async (ahead) => {
			await inTime(async (records) => {
				await (await records.open('first')).reserve();
				kill(records);
				records.row.changedAt = records.time.now() + ahead;
				const since = records.time.now();
				expect(await (await records.open('next')).stateOf()).toBe('sent');
				expect(records.time.now() - since).toBeGreaterThanOrEqual(59_000);
				expect(records.time.now() - since).toBeLessThan(63_000);
			});
		},
	);

	const keys = Array.from({ length: 10 }, (_, index) => `key ${index}`);

	async function leftUnresolved(records: Records): Promise<Execution[]> {
		const [first, next, last] = ['first', 'next', 'last'].map((name) => records.execution(name));
		await first.journal.begin(keys);
		for (const key of keys) await first.reserve(key);
		kill(records);
		await next.journal.begin(keys);
		return [next, last];
	}

	async function secondsFor(execution: Execution, records: Records): Promise<number> {
		const since = records.time.now();
		for (const key of keys) expect(await execution.stateOf(key)).toBe('sent');
		return (records.time.now() - since) / 1000;
	}

	it('is unresolved after one minute for ten keys, and at once in the next execution', async () => {
		await inTime(async (records) => {
			const [next, last] = await leftUnresolved(records);
			expect(await secondsFor(next, records)).toBeLessThan(75);
			await last.journal.begin(keys);
			expect(await secondsFor(last, records)).toBeLessThan(3);
		});
	});

	it('is unresolved after a minute even if each execution that waits for it dies first', async () => {
		await inTime(async (records) => {
			const first = await records.open('first');
			await first.reserve();
			kill(records);
			for (const name of ['second', 'third']) {
				const waiting = await records.open(name);
				void waiting.stateOf().catch(() => undefined);
				await records.time.sleep(45_000);
				records.deaf.add(name);
			}
			const last = await records.open('last');
			const since = records.time.now();
			expect(await last.stateOf()).toBe('sent');
			expect(records.time.now() - since).toBeLessThan(5_000);
			expect(records.row.status).toBe('sent');
		});
	});

	it('is not taken for dead while its writer lives, no matter how often others wait for it', async () => {
		await inTime(async (records) => {
			const seen: string[] = [];
			const first = await records.open('first');
			await first.reserve();
			for (const name of ['second', 'third', 'fourth']) {
				// The table loses one heartbeat, so the row does not change for 30 s.
				records.deaf.add('first');
				const waiting = await records.open(name);
				void waiting.stateOf().then(
					(state) => seen.push(state),
					() => undefined,
				);
				await records.time.sleep(29_000);
				records.deaf.delete('first');
				await records.time.sleep(31_000);
				records.deaf.add(name);
			}
			expect(seen).toEqual([]);
			await first.commit('made');
			const last = await records.open('last');
			expect(await last.stateOf()).toBe('made');
			expect(records.table.rows).toHaveLength(1);
		});
	});

	it('is unresolved at once if the minute passed while other items were created', async () => {
		await inTime(async (records) => {
			const [next] = await leftUnresolved(records);
			await records.time.sleep(80_000);
			expect(await secondsFor(next, records)).toBeLessThan(2);
		});
	});

	it('is waited for with few table calls, because each one is a helper workflow', async () => {
		await inTime(async (records) => {
			await (await records.open('first')).reserve();
			kill(records);
			const next = await records.open('next');
			const before = records.calls;
			expect(await next.stateOf()).toBe('sent');
			expect(records.calls - before).toBeLessThan(30);
		});
	});
});
