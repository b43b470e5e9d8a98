import type { StoredOrders } from '../../../client/orders/journal';
import type { Row } from '../../../client/jobs/row';
import { newRow, type CallTable, type TableCall } from '../../../client/orders/table';
import { answerLost, refused } from '../../support/fake-service';
import { beginKeyed, keyed, runKeyed } from '../../support/keyed-step';
import { MemoryTable } from '../../support/memory-table';
import { batch, creating, inShort, Step, type CreateChanges } from '../../support/step';
import type { VirtualTime } from '../../support/virtual-time';

/** The rows of the table for an idempotency key, and what executions do that share them. */

const resubmit = { onUncertainCharge: 'resubmit' } as const;

function opened() {
	const step = new Step({ stopOnError: false });
	const table = new MemoryTable(step.time);
	const { time } = step;
	return {
		...{ step, table, time },
		/** Changes the table by hand. */
		later: (ms: number, action: () => void) => time.at(time.now() + ms, action),
		/** Runs an execution with one item, whose key is `a`. */
		run: async (execution: string, changes: CreateChanges = {}) => {
			const jobs = [keyed('boat', 0, 'a', changes)];
			return (await runKeyed(step, table, execution, jobs)).outcomes.map(inShort)[0];
		},
		ids: () => table.rows.map((row) => row.generation_id),
	};
}

describe('of several rows of a key', () => {
	const row = (id: number, cells: Partial<Row>): Row => {
		const empty = newRow({ workflowId: 'w', nodeId: 'n', executionId: 'e' }, 'a');
		return { ...empty, id, changedAt: null, ...cells };
	};
	const sent = (id: number) => row(id, { status: 'sent' });
	const made = (id: number, status = 'completed') =>
		row(id, { status, generation_id: `generation-${id}` });

	it.each<[what: string, rows: Row[], outcome: string]>([
		['one with a generation counts, even if it is the newest', [sent(1), sent(2), made(3)], '-3'],
		['the oldest generation counts', [made(1), made(2)], '-1'],
		['a failed generation does not count', [made(1, 'failed'), made(2)], '-2'],
		['a failed generation alone does not count', [made(1, 'failed')], '-4'],
	])('%s', async (_, rows, outcome) => {
		for (const stored of [rows, [...rows].reverse()]) {
			const { step, table, run } = opened();
			await step.run(batch(3, { wait: false }));
			table.rows.push(...stored.map((one) => ({ ...one })));
			expect(await run('next')).toContain(outcome);
		}
	});

	it('an uncertain one is sent again when the generation of another has failed: no third is written', async () => {
		const { step, table, time } = opened();
		step.fake.failure = (text) => (text === 'p0' ? 'out of paint' : undefined);
		await step.run(batch(1, { wait: false }));
		table.rows.push(made(1, 'pending'), row(2, { status: 'uncertain' }));
		const inserted: unknown[] = [];
		const reach = (reached: CallTable) => async (call: TableCall) => {
			inserted.push(...call.inserts);
			return await reached(call);
		};
		const jobs = [keyed('boat', 0, 'a', { ...resubmit, retriesOnFailure: 1 })];
		const { outcomes } = await time.run(beginKeyed(step, table, 'next', jobs, { reach }));
		expect(outcomes.map(inShort)).toEqual(['completed generation-2']);
		expect(table.rows.map(({ generation_id: id }) => id)).toEqual(['generation-1', 'generation-2']);
		expect(inserted).toEqual([]);
	});
});

describe('a row', () => {
	it.each([
		['unchanged', 'shoe-42', 'shoe-42'],
		['unchanged up to 300 characters', 'x'.repeat(300), 'x'.repeat(300)],
		['without characters that PostgreSQL rejects', 'a\0b', 'a\uFFFDb'],
		['without half of a surrogate pair, which no database returns', 'a\uD83D', 'a\uFFFD'],
		['with complete surrogate pairs', '\u{1F6A2}', '\u{1F6A2}'],
		['truncated, with a digest', 'x'.repeat(301), `${'x'.repeat(300)}… `],
		['truncated between characters', `${'x'.repeat(299)}\u{1F6A2}!`, `${'x'.repeat(299)}\uFFFD… `],
	])('stores its key %s', async (_, key, stored) => {
		const { step, table } = opened();
		await runKeyed(step, table, 'one', [keyed('boat', 0, key), keyed('ship', 1, `${key}2`)]);
		const [one, other] = table.rows.map((row) => row.key);
		expect(one.replace(/(?<=… )[0-9a-f]{32}$/, '')).toBe(stored);
		expect(one).not.toBe(other);
	});

	it('stores the beginning of the prompt', async () => {
		const { step, table } = opened();
		const prompts = ['a\0 boat', 'x'.repeat(200), 'x'.repeat(201), `${'x'.repeat(199)}\u{1F6A2}`];
		const jobs = prompts.map((text, index) => keyed(text, index, `${index}`));
		await runKeyed(step, table, 'one', jobs);
		const cut = [`${'x'.repeat(200)}…`, `${'x'.repeat(199)}\uFFFD…`];
		expect(table.rows.map((row) => row.prompt)).toEqual(['a\uFFFD boat', prompts[1], ...cut]);
	});

	it('that a user deletes during the request is written again with the ID', async () => {
		const { step, table, later, run, ids } = opened();
		step.fake.latencyMs = 5_000;
		later(2_000, () => (table.rows.length = 0));
		await run('one');
		expect(ids()).toEqual(['generation-1']);
	});
});

describe('a table', () => {
	/** Fails as long as the condition is true, and counts the calls. */
	function failing(isDown: () => boolean, error = new Error('SQLITE_BUSY')) {
		const count = { calls: 0 };
		const reach =
			(table: CallTable): CallTable =>
			async (call) => {
				count.calls++;
				if (isDown()) throw error;
				return await table(call);
			};
		return { count, reach };
	}
	const two = () => [keyed('boat', 0, 'a'), keyed('ship', 1, 'b')];

	it('that is locked for 25 s delays an item, and does not fail it', async () => {
		const { step, table, time, ids } = opened();
		const { reach } = failing(() => step.elapsed < 25_000);
		const { outcomes } = await time.run(beginKeyed(step, table, 'one', two(), { reach }));
		expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'done']);
		expect(ids()).toEqual(['generation-1', 'generation-2']);
	});

	it('that is locked when an ID is written gets that ID, also if a stop ends the wait', async () => {
		const { step, table, time, ids } = opened();
		const { signal } = step.cancel;
		const { reach } = failing(() => step.fake.made.length > 0 && !signal.aborted);
		step.stopAt(5_000);
		await time.run(beginKeyed(step, table, 'one', [keyed('boat', 0, 'a')], { reach }));
		expect(ids()).toEqual(['generation-1']);
	});

	it('whose answer is lost when an ID is written, and then a stop, has that ID once', async () => {
		const { step, table, time, ids } = opened();
		const { signal } = step.cancel;
		const reach = (reached: CallTable) => async (call: TableCall) => {
			const rows = await reached(call);
			if (step.fake.made.length > 0 && !signal.aborted) throw new Error('SQLITE_BUSY');
			return rows;
		};
		step.stopAt(5_000);
		await time.run(beginKeyed(step, table, 'one', [keyed('boat', 0, 'a')], { reach }));
		expect(ids()).toEqual(['generation-1']);
	});

	it('that could not store an ID gets it when the step ends', async () => {
		const { step, table, time } = opened();
		step.fake.durationMs = () => 42_000;
		const { reach } = failing(() => step.fake.made.length > 0 && step.elapsed < 41_000);
		await time.run(beginKeyed(step, table, 'one', [keyed('boat', 0, 'a')], { reach }));
		expect(table.rows).toMatchObject([{ generation_id: 'generation-1', status: 'completed' }]);
		const { outcomes } = await runKeyed(step, table, 'two', [keyed('boat', 0, 'a')]);
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
	});
});

describe('while another execution sends the request of a key', () => {
	/** Two executions on one table. The answer to the request of the first takes this long. */
	async function both(answerMs: number, changes: CreateChanges = {}) {
		const { step, table, time } = opened();
		step.fake.latencyMs = answerMs;
		const first = beginKeyed(step, table, 'slow', [keyed('boat', 0, 'a')]);
		const second = time.sleep(1_000).then(async () => {
			step.fake.latencyMs = 0;
			const jobs = [keyed('boat', 0, 'a', changes)];
			return await beginKeyed(step, table, 'waits', jobs);
		});
		const results = await time.run(Promise.all([first, second]));
		return { made: step.fake.made.length, outcomes: results.map(({ outcomes: [one] }) => one) };
	}

	it('the other one waits for its ID, as long as a request can take', async () => {
		const { made, outcomes } = await both(90_000);
		expect(outcomes.map(inShort)).toEqual(Array(2).fill('completed generation-1'));
		expect(made).toBe(1);
	});
});

describe('while an id is being written for a minute', () => {
	/** Writing an id takes a minute. Everything else is prompt. */
	const slowIds =
		(time: VirtualTime) =>
		(table: CallTable): CallTable =>
		async (call) => {
			if (call.made.length > 0) await time.sleep(60_000);
			return await table(call);
		};

	it.each([
		['the step waits for its generation', {}],
		['the step is about to end', { wait: false }],
	])('another execution that may resubmit does not: %s', async (_, changes) => {
		const { step, table, time } = opened();
		step.fake.durationMs = () => 200_000;
		const jobs = [keyed('boat', 0, 'a', changes)];
		const first = beginKeyed(step, table, 'slow', jobs, { reach: slowIds(time) });
		const second = time.sleep(1_000).then(async () => {
			return await beginKeyed(step, table, 'waits', [keyed('boat', 0, 'a', resubmit)]);
		});
		const results = await time.run(Promise.all([first, second]));
		expect(step.fake.made).toHaveLength(1);
		expect(inShort(results[1].outcomes[0])).toBe('completed generation-1');
	});
});

describe('a request whose response was lost', () => {
	it('is sent again by only one of two executions', async () => {
		const { step, table, time, run } = opened();
		step.fake.order('boat', answerLost);
		await run('one');
		const begin = async (name: string) =>
			await beginKeyed(step, table, name, [keyed('boat', 0, 'a', resubmit)]);
		const all = await time.run(Promise.all([begin('two'), begin('three')]));
		expect(all.map(({ outcomes }) => inShort(outcomes[0]))).toEqual(
			Array(2).fill('completed generation-2'),
		);
		expect(table.rows).toHaveLength(1);
	});

	it('stays uncertain if it is rejected when sent again, also for an item that had no key yet', async () => {
		for (const job of [keyed('boat', 0, 'a'), creating('boat', 0)]) {
			const { step, table, time, run } = opened();
			const stored: StoredOrders = {};
			step.fake.order('boat', answerLost, refused(402, 'insufficient_credits'));
			await time.run(beginKeyed(step, table, 'one', [job], { stored }));
			const again = [keyed('boat', 0, 'a', resubmit)];
			const result = await time.run(beginKeyed(step, table, 'one', again, { stored }));
			expect(result.outcomes.map(inShort)).toEqual(['uncertain_charge']);
			expect(table.rows).toMatchObject([{ key: 'a', status: 'uncertain', generation_id: '' }]);
			expect(await run('next')).toBe('uncertain_charge');
		}
	});
});
