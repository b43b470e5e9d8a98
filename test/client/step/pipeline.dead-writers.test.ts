import { newRow } from '../../../client/orders/table';
import { beginKeyed, keyed, runKeyed } from '../../support/keyed-step';
import { MemoryTable, prompt } from '../../support/memory-table';
import { creating, inShort, Step } from '../../support/step';

/** How a request is treated whose execution died before it wrote the ID. */

const DAY_MS = 86_400_000;

/** A table with the rows of an execution that died. Nobody writes to them any more. */
function opened(keys = ['a'], changedAt: (now: number) => number | null = () => null) {
	const step = new Step({ stopOnError: false, maxConcurrent: 1 });
	const { time } = step;
	const table = new MemoryTable(time);
	const scope = { workflowId: 'w', nodeId: 'n', executionId: 'dead' };
	for (const [index, key] of keys.entries()) {
		const cells = { status: 'sent', writer: `dead/${index}`, changedAt: changedAt(time.now()) };
		table.rows.push({ ...newRow(scope, key), ...cells, id: index + 1 });
	}
	/** Runs an execution for the keys. Returns its outcomes, its duration in seconds, and its table calls. */
	const run = async (execution: string, all = keys, timeoutMs = 600_000) => {
		const since = time.now();
		let calls = 0;
		const fateOf = () => {
			calls++;
			return prompt;
		};
		const jobs = all.map((key, index) => keyed(`p${index}`, index, key, { timeoutMs }));
		const { outcomes } = await runKeyed(step, table, execution, jobs, fateOf);
		return { outcomes: outcomes.map(inShort), seconds: (time.now() - since) / 1000, calls };
	};
	return { step, table, run };
}

describe('a request of an execution that died', () => {
	it.each([0, DAY_MS, -DAY_MS])(
		'is uncertain after two minutes, and few table calls (the clock of the table: %i ms ahead)',
		async (aheadMs) => {
			const { step, run } = opened(['a'], (now) => now + aheadMs);
			const { outcomes, seconds, calls } = await run('next');
			expect(outcomes).toEqual(['uncertain_charge']);
			expect(seconds).toBeGreaterThanOrEqual(119);
			expect(seconds).toBeLessThan(126);
			expect(calls).toBeLessThan(60);
			expect(step.fake.creating).toEqual([]);
		},
	);

	it('is not taken for dead because the machine was suspended', async () => {
		const { step, table, run } = opened();
		const { time } = step;
		await step.run([creating('boat', 0, { wait: false })]);
		let suspendedMs = 0;
		step.clock = {
			now: () => time.now() + suspendedMs,
			sleep: async (...args) => await time.sleep(...args),
		};
		time.at(time.now() + 4_000, () => (suspendedMs = 3_600_000));
		time.at(time.now() + 12_000, () => (table.rows[0].generation_id = 'generation-1'));
		expect((await run('next', ['a'], 1e9)).outcomes).toEqual(['completed generation-1']);
		expect(table.rows).toHaveLength(1);
	});

	it('is not taken for dead while its row changes', async () => {
		const { step, table, run } = opened();
		const write = async () => {
			for (;;) {
				await step.time.sleep(100_000);
				Object.assign(table.rows[0], { changedAt: step.time.now() });
			}
		};
		void write();
		step.stopAt(step.elapsed + 550_000);
		expect((await run('next')).outcomes).toEqual(['stopped']);
		expect(table.rows[0].writer).toBe('dead/0');
	});

	it('is sent again by one of three executions with Resubmit', async () => {
		const { step, table } = opened();
		const jobs = [keyed('p0', 0, 'a', { onUncertainCharge: 'resubmit' })];
		const all = ['one', 'two', 'three'].map(async (name) => {
			const { outcomes } = await beginKeyed(step, table, name, jobs);
			return outcomes.map(inShort);
		});
		const results = await step.time.run(Promise.all(all));
		expect(results).toEqual(Array(3).fill(['completed generation-1']));
		expect(step.fake.creating).toHaveLength(1);
	});
});
