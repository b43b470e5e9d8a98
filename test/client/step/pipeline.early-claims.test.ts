import { newRow } from '../../../client/orders/table';
import { newMemory, type Memory } from '../../../client/jobs/memory';
import { beginKeyed, keyed, runKeyed } from '../../support/keyed-step';
import { MemoryTable } from '../../support/memory-table';
import { creating, inShort, Step } from '../../support/step';

/** The row of the next order is written shortly before the generation before it ends, if generations are short. */

const SLOW_TABLE = { beforeMs: 200, afterMs: 200 };

function opened({ size = 4, maxConcurrent = 1, seconds = 2 } = {}) {
	const step = new Step({ maxConcurrent, stopOnError: false });
	step.fake.latencyMs = 100;
	step.fake.durationMs = () => seconds * 1000;
	const table = new MemoryTable(step.time);
	const jobs = Array.from({ length: size }, (_, i) => keyed(`p${i}`, i, `k${i}`));
	const run = async (memory?: Memory) => {
		const settings = { fateOf: () => SLOW_TABLE, memory };
		return await step.time.run(beginKeyed(step, table, 'one', jobs, settings));
	};
	/** Number of rows whose request did not leave. */
	const early = () => table.rows.length - step.fake.creating.length;
	/** For how long at most there was such a row, once the step has run. */
	const longestEarly = () => {
		const longest = { ms: 0 };
		let since = 0;
		for (let at = 0; at < 30_000; at += 10) {
			step.time.at(step.time.now() + at, () => {
				if (early() <= 0) since = at;
				longest.ms = Math.max(longest.ms, at - since);
			});
		}
		return longest;
	};
	const ids = () => table.rows.map((row) => row.generation_id);
	const made = () => step.fake.made.map((one) => one.id);
	return { step, table, jobs, run, early, longestEarly, ids, made };
}

it('no slot is idle while the table is written', async () => {
	const { step, jobs, run } = opened({ size: 80, maxConcurrent: 4 });
	const startedAt = step.elapsed;
	await run();
	const keyedMs = step.elapsed - startedAt;
	await step.run(jobs.map((_, index) => creating(`plain${index}`, index)));
	expect(keyedMs).toBeLessThan(1.08 * (step.elapsed - startedAt - keyedMs));
});

it('a row is written about a second before its request leaves', async () => {
	const { longestEarly, run } = opened({ size: 8 });
	const longest = longestEarly();
	await run();
	expect(longest.ms).toBeLessThan(1_200);
	expect(longest.ms).toBeGreaterThan(500);
});

it('a stop leaves no row of a request that was not sent', async () => {
	for (let ms = 5_000; ms < 10_000; ms += 50) {
		const { step, run, ids, made } = opened();
		step.stopAt(ms);
		await run();
		expect(ids()).toEqual(made());
	}
});

it('no row is written early after a sleep: the rows of earlier tries first decide about its model', async () => {
	const { step, run, longestEarly } = opened();
	const since = step.time.now();
	const longest = longestEarly();
	await run({ ...newMemory('token', since), restedAt: since });
	expect(longest.ms).toBeLessThan(500);
});

it('a row is deleted if its request does not leave in time, and written again later', async () => {
	const { step, table, run, early, ids, made } = opened({ size: 6 });
	// The third generation takes longer than those before it.
	step.fake.durationMs = (prompt) => (prompt === 'p2' ? 9_000 : 2_000);
	const seen: number[] = [];
	for (let at = 0; at < 20_000; at += 100) {
		step.time.at(step.time.now() + at, () => {
			if (made().length === 3) seen.push(early());
		});
	}
	const { outcomes } = await run();
	expect(seen.join('')).toMatch(/^0+1+0+/);
	expect(outcomes.map(({ kind }) => kind)).toEqual(Array(6).fill('done'));
	expect(ids()).toEqual(made());
	expect(table.rows).toHaveLength(6);
});

it('an uncertain row of another execution that is found meanwhile is not sent again', async () => {
	const { step, table } = opened();
	step.fake.slots = 1;
	step.settings.maxConcurrent = 2;
	const durations = [2_000, 1_200, 9_000, 2_000];
	step.fake.durationMs = (prompt) => durations[Number(prompt.slice(1))];
	const scope = { workflowId: 'w', nodeId: 'n', executionId: 'other' };
	const left = { id: 0, status: 'uncertain', writer: 'other/1', changedAt: null };
	step.time.at(step.time.now() + 1_500, () => table.rows.push({ ...newRow(scope, 'k3'), ...left }));
	// The second item ends while the row of the last one is written. That one then waits for its slot for long.
	const changes = { readiness: 'auto' } as const;
	const jobs = [0, 1, 2].map((index) => creating(`p${index}`, index, changes));
	const all = [...jobs, keyed('p3', 3, 'k3', changes)];
	const { outcomes } = await runKeyed(step, table, 'one', all, () => SLOW_TABLE);
	expect(outcomes.map(inShort)[3]).toBe('uncertain_charge');
	expect(step.fake.made).toHaveLength(3);
});
