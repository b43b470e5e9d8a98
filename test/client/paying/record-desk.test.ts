import { all, asSeen, RecordDesk } from '../../../client/paying/record-desk';
import { CLAIMED, claimedRow, SENT } from '../../../client/paying/record-rows';
import type { RecordStore, Where } from '../../../client/paying/record-store';
import { MemoryTable, prompt } from '../../support/memory-table';
import { VirtualTime } from '../../support/virtual-time';

const scope = { workflowId: 'w', nodeId: 'n', executionId: 'e', writer: 'u' };
const keysNamed = (count: number) => Array.from({ length: count }, (_, index) => `key ${index}`);

class Stage {
	readonly time = new VirtualTime();
	readonly table = new MemoryTable(this.time);
	readonly halt = new AbortController();
	/** The methods that were called, and on which rows. */
	readonly calls: Array<[method: keyof RecordStore, wheres: Where[]]> = [];
	/** What becomes of the next calls. */
	readonly fails: Array<'before' | 'after' | undefined> = [];
	readonly desk: RecordDesk;

	constructor() {
		const store = this.table.reachedBy(this.time, () => ({
			...prompt,
			fails: this.fails.shift(),
		}));
		this.desk = new RecordDesk(scope, {
			store: {
				...store,
				// As a table that minds no case.
				read: async (keys) => await store.read(keys.flatMap((key) => [key, key.toUpperCase()])),
				change: async (changes) => {
					this.calls.push(['change', changes.map(({ where }) => where)]);
					return await store.change(changes);
				},
				remove: async (wheres) => {
					this.calls.push(['remove', wheres]);
					return await store.remove(wheres);
				},
			},
			clock: this.time,
			signal: this.halt.signal,
		});
	}

	/** Claims of our own, each with its ticket. */
	async claim(keys: string[]): Promise<void> {
		const rows = keys.map((key, index) => claimedRow(scope, key, `u/${index}`));
		await Promise.all(rows.map(async (row) => await this.desk.insert(row)));
	}
}

async function inTime(play: (stage: Stage) => Promise<void>): Promise<void> {
	const stage = new Stage();
	await stage.time.run(play(stage));
}

it('reads the rows of this workflow and this node alone', async () => {
	await inTime(async ({ desk }) => {
		const others = [
			{ ...scope, workflowId: 'another' },
			{ ...scope, nodeId: 'another' },
		];
		for (const other of [...others, scope]) await desk.insert(claimedRow(other, 'a', 'u/1'));
		expect(await desk.read('a')).toMatchObject([{ workflow_id: 'w', node_id: 'n' }]);
	});
});

it('reads what was asked for, though a table that minds no case gives more', async () => {
	await inTime(async (stage) => {
		await stage.claim(['a', 'A']);
		expect(await stage.desk.read('a')).toMatchObject([{ key: 'a' }]);
	});
});

describe('of hundreds of rows', () => {
	const keys = keysNamed(450);

	it('each is said to be sent, in one call of statements that a database bears', async () => {
		await inTime(async (stage) => {
			const { desk, table, calls } = stage;
			await stage.claim(keys);
			const gone = table.rows.splice(123, 1);
			const rows = [...table.rows, ...gone];
			const sent = await Promise.all(rows.map(async (row) => await desk.sendOwn(row)));
			expect(sent).toEqual([...table.rows.map(() => true), false]);
			expect(table.rows.every(({ status }) => status === SENT)).toBe(true);
			expect(calls.map(([, wheres]) => wheres.map(({ conditions }) => conditions.length))).toEqual([
				[200, 200, 50],
			]);
		});
	});

	it('the end of each is written, and none besides', async () => {
		await inTime(async (stage) => {
			const { desk, table, calls } = stage;
			await stage.claim(keys);
			table.rows.forEach((row, index) => (row.generation_id = `g${index}`));
			await desk.writeEnds(
				'completed',
				table.rows.slice(0, 449).map((row) => row.generation_id),
			);
			expect(table.rows.map(({ status }) => status)).toEqual([
				...Array<string>(449).fill('completed'),
				CLAIMED,
			]);
			expect(Math.max(...calls.flatMap(([, [{ conditions }]]) => conditions.length))).toBe(200);
		});
	});
});

it('nothing is asked of the table where there is nothing to remove', async () => {
	await inTime(async ({ desk, calls }) => {
		expect(await desk.remove([])).toEqual(new Set());
		expect(calls).toEqual([]);
	});
});

it('another’s row is removed only as it was seen', async () => {
	await inTime(async (stage) => {
		const { desk, table } = stage;
		await stage.claim(['a', 'b']);
		const [a, b] = table.rows.map((row) => ({ ...row }));
		table.rows[0].status = SENT;
		expect(await desk.remove([a, b])).toEqual(new Set([b.id]));
		expect(table.rows).toMatchObject([{ key: 'a' }]);
	});
});

describe('what must not be lost', () => {
	const change = { where: all(['writer', 'u/0']), set: { status: SENT } };

	it.each([
		['at once where nothing is in the way', [], 0],
		['after a second', ['before'], 1_000],
		['after four, where its answers are lost', ['after', 'after'], 4_000],
	] as const)('is written %s', async (_, fails, afterMs) => {
		await inTime(async (stage) => {
			await stage.claim(['a']);
			stage.fails.push(...fails);
			const before = stage.time.now();
			const kept = await stage.desk.keep(async () => await stage.desk.write(change));
			expect(kept).toEqual({ ok: true, value: true });
			expect(Math.floor((stage.time.now() - before) / 1_000)).toBe(afterMs / 1_000);
			expect(stage.table.rows).toMatchObject([{ status: SENT }]);
		});
	});

	it('is given up after three tries, which is told and not thrown', async () => {
		await inTime(async (stage) => {
			await stage.claim(['a']);
			stage.fails.push('before', 'before', 'before');
			const kept = await stage.desk.keep(async () => await stage.desk.write(change));
			expect(kept).toMatchObject({ ok: false });
			expect(stage.calls).toHaveLength(3);
		});
	});

	it('is tried at once after a stop', async () => {
		await inTime(async (stage) => {
			await stage.claim(['a']);
			stage.halt.abort();
			stage.fails.push('before', 'before');
			const before = stage.time.now();
			await stage.desk.keep(async () => await stage.desk.write(change));
			expect(stage.time.now() - before).toBeLessThan(200);
			expect(stage.table.rows).toMatchObject([{ status: SENT }]);
		});
	});

	it('is waited for in the end', async () => {
		await inTime(async ({ desk, time }) => {
			let done = false;
			void desk.background(async () => {
				await time.sleep(5_000);
				done = true;
			});
			await desk.settled();
			expect(done).toBe(true);
		});
	});
});

it('a row counts as seen by its id, its writer, its status and its generation', () => {
	const row = { ...claimedRow(scope, 'a', 'u/1'), id: 7, changedAt: null };
	expect(asSeen(row)).toEqual({
		match: 'all',
		conditions: [
			['id', 7],
			['writer', 'u/1'],
			['status', CLAIMED],
			['generation_id', ''],
		],
	});
});
