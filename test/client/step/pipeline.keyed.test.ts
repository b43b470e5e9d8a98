import type { CreateJob } from '../../../client/jobs/job';
import { GenerationError } from '../../../client/api/errors';
import { answer, refusal, wireGeneration } from '../../support/answers';
import { answerLost, refused } from '../../support/fake-service';
import { keyed, runKeyed } from '../../support/keyed-step';
import { idealMakespan } from '../../support/makespan';
import { MemoryTable } from '../../support/memory-table';
import { batch, creating, errorIn, inShort, Step } from '../../support/step';

/** The table contains what a first execution created for the key `a`. */
async function afterOne(settings = { stopOnError: false }) {
	const step = new Step(settings);
	const table = new MemoryTable(step.time);
	await runKeyed(step, table, 'one', [keyed('p0', 0, 'a')]);
	expect(table.rows[0]).toMatchObject({ generation_id: 'generation-1' });
	return { step, table };
}

describe('the generation that another execution created for a key is named', () => {
	it.each([
		['returns errors', Array(7).fill(() => refusal(503, 'service_unavailable'))],
		['rejects the API key', [() => refusal(401, 'expired_api_key')]],
	])('if the service %s when its status is checked', async (_, looks) => {
		const { step, table } = await afterOne();
		step.fake.orderLooks(...looks);
		const { outcomes } = await runKeyed(step, table, 'two', [
			keyed('p0', 0, 'a', { timeoutMs: 30_000 }),
		]);
		expect(errorIn(outcomes[0])).toMatchObject({
			charge: 'paid',
			generation: { id: 'generation-1' },
		});
	});

	it('if another item ends the step', async () => {
		const { step, table } = await afterOne({ stopOnError: true });
		step.fake.latencyMs = 500;
		step.fake.orderLooks(async () => {
			await step.time.sleep(5000);
			return answer(wireGeneration({ id: 'generation-1', status: 'completed' }));
		});
		step.fake.order('p1', refused(422, 'unsupported_parameter'));
		const jobs = [keyed('p0', 0, 'a'), keyed('p1', 1, 'b')];
		const { outcomes } = await runKeyed(step, table, 'two', jobs);
		expect(outcomes.map(inShort)).toEqual(['stopped generation-1', 'unsupported_parameter']);
	});

	it('if the user stops the step, even for an item that was not started', async () => {
		const { step, table } = await afterOne();
		step.fake.latencyMs = 5000;
		step.settings.maxConcurrent = 1;
		step.stopAt(step.elapsed + 1000);
		const jobs = [keyed('p1', 0, 'b'), keyed('p0', 1, 'a')];
		const { outcomes } = await runKeyed(step, table, 'two', jobs);
		expect(outcomes.map(inShort)[1]).toBe('stopped generation-1');
	});
});

describe('a replica with replication lag', () => {
	it.each([
		['the item that created it', 1],
		['another item with the same key', 2],
	])('does not hide a generation that was just created: %s', async (_, items) => {
		const step = new Step({ stopOnError: false });
		step.fake.orderLooks(() => refusal(404, 'generation_not_found'));
		const jobs = Array.from({ length: items }, (__, index) => keyed('p0', index, 'a'));
		const { outcomes } = await runKeyed(step, new MemoryTable(step.time), 'one', jobs);
		expect(outcomes.map(inShort)).toEqual(jobs.map(() => 'completed generation-1'));
	});

	it('does not block a retry', async () => {
		const step = new Step();
		step.fake.order('p1', refused(422, 'unsupported_parameter'));
		await step.run(batch(2));
		step.fake.orderLooks(() => refusal(404, 'generation_not_found'));
		const { outcomes } = await step.runAgain(batch(2));
		expect(outcomes.map(inShort)).toEqual(['completed generation-1', 'completed generation-2']);
	});
});

describe('items that share a key and are sent again', () => {
	it('are sent again three times in total, whichever item sends the request', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.order('p', ...Array(100).fill(answerLost));
		const jobs = Array.from({ length: 10 }, (_, index) =>
			keyed('p', index, 'k', { onUncertainCharge: 'resubmit' }),
		);
		const { outcomes } = await runKeyed(step, new MemoryTable(step.time), 'one', jobs);
		expect(step.fake.made).toHaveLength(4);
		expect(new Set(outcomes.map(inShort))).toEqual(new Set(['uncertain_charge']));
	});
});

describe('a batch of 100 items with keys', () => {
	/** How long the table takes: on an idle machine, and on one that is busy. */
	const QUICK_MS = 80;
	const BUSY_MS = 400;

	interface Batch {
		/** Returns how long the generation of an item takes, in seconds. */
		durationOf: (item: number) => number;
		tableMs: number;
	}

	/** Returns the virtual seconds that the batch takes, and its table calls. */
	async function play({ durationOf, tableMs }: Batch, jobOf: (index: number) => CreateJob) {
		const step = new Step({ maxConcurrent: 10 });
		step.fake.latencyMs = 100;
		step.fake.durationMs = (prompt) => durationOf(Number(prompt.slice(1))) * 1000;
		let calls = 0;
		const fateOf = () => ({ beforeMs: tableMs / 2, afterMs: tableMs / 2 + (calls++ % 5) * 10 });
		const jobs = Array.from({ length: 100 }, (_, index) => jobOf(index));
		const { outcomes } = await runKeyed(step, new MemoryTable(step.time), 'one', jobs, fateOf);
		expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
		return { calls, seconds: step.elapsed / 1000 };
	}

	const auto = { readiness: 'auto' } as const;
	const alike = (seconds: number) => () => seconds;
	const varied = (seconds: number) => (item: number) => seconds * (0.5 + ((item * 37) % 100) / 100);

	it.each([
		['2 s', alike(2), QUICK_MS, 1.26, 80],
		['2 s, beside a busy table', alike(2), BUSY_MS, 1.56, 80],
		['1 s to 3 s, beside a busy table', varied(2), BUSY_MS, 1.54, 80],
		['10 s', alike(10), QUICK_MS, 1.055, 80],
		['5 s to 15 s, beside a busy table', varied(10), BUSY_MS, 1.12, 150],
		['60 s', alike(60), QUICK_MS, 1.011, 80],
	])(
		'of %s takes about as long as the service needs',
		async (_, durationOf, tableMs, ratio, mostCalls) => {
			const { calls, seconds } = await play({ durationOf, tableMs }, (index) =>
				keyed(`p${index}`, index, `key ${index}`, auto),
			);
			const durations = Array.from({ length: 100 }, (__, index) => durationOf(index));
			expect(seconds / idealMakespan(durations, 10)).toBeLessThan(ratio);
			expect(calls).toBeLessThan(mostCalls);
		},
	);
});

describe('an item that waits for a slot', () => {
	const four = () => [0, 1, 2, 3].map((i) => keyed(`p${i}`, i, `k${i}`));

	/** Runs four items, one at a time, up to a stop. */
	async function until(ms: number, jobs = four(), tableMs = 100) {
		const step = new Step({ maxConcurrent: 1 });
		step.fake.latencyMs = 100;
		const table = new MemoryTable(step.time);
		const seen: number[] = [];
		const look = () => seen.push(table.rows.length - step.fake.made.length);
		for (let at = 10_500; at < 40_000; at += 500) step.time.at(step.time.now() + at, look);
		if (ms < Infinity) step.stopAt(ms);
		const fateOf = () => ({ beforeMs: tableMs / 2, afterMs: tableMs / 2 });
		const result = await runKeyed(step, table, 'one', jobs, fateOf);
		return { step, table, seen, ...result };
	}

	it('has no row: that says that a request was sent', async () => {
		const { seen, table } = await until(40_000, four(), 1);
		expect(table.rows).toHaveLength(4);
		expect(seen.filter((rows) => rows > 0)).toEqual([]);
	});

	it('leaves no row if the user stops the step while it is written', async () => {
		for (let ms = 23_000; ms < 26_500; ms += 100) {
			const { step, table } = await until(ms);
			expect(table.rows.map(({ generation_id: id }) => id)).toEqual(
				step.fake.made.map((one) => one.id),
			);
		}
	});

	it('is sent once if another item has the same key', async () => {
		const jobs = [0, 1, 2, 3].map((i) =>
			keyed(i < 2 ? `p${i}` : 'same', i, i < 2 ? `k${i}` : 'same'),
		);
		const { step, table, outcomes } = await until(Infinity, jobs);
		expect(step.fake.made).toHaveLength(3);
		expect(outcomes.map(inShort)[3]).toBe(outcomes.map(inShort)[2]);
		expect(table.rows).toHaveLength(3);
	});

	it('is sent if it is the only one with a key', async () => {
		const jobs = [creating('p0', 0), creating('p1', 1), keyed('p2', 2, 'only')];
		const { outcomes } = await until(120_000, jobs);
		expect(outcomes.map(inShort)).toEqual([1, 2, 3].map((made) => `completed generation-${made}`));
	});

	it.each([100, 800])(
		'leaves no row if another item ends the step while its row is written (table: %i ms)',
		async (tableMs) => {
			for (let ms = 20_000; ms < 23_000; ms += 50) {
				const step = new Step({ maxConcurrent: 1 });
				step.fake.latencyMs = 100;
				step.fake.durationMs = (prompt) => (prompt === 'p1' ? 9_000 : 10_000);
				const failsAt = step.time.now() + ms;
				step.finish = async ({ itemIndex }, generation) => {
					if (itemIndex > 0) return { generation, output: '' };
					await step.time.sleep(failsAt - step.time.now());
					throw new GenerationError({ title: 'Broken', description: '', code: 'download_failed' });
				};
				const table = new MemoryTable(step.time);
				const jobs = [0, 1, 2, 3].map((i) => keyed(`p${i}`, i, `k${i}`, { readiness: 'auto' }));
				const fateOf = () => ({ beforeMs: tableMs / 2, afterMs: tableMs / 2 });
				await runKeyed(step, table, 'one', jobs, fateOf);
				const ids = table.rows.map(({ generation_id: id }) => id);
				expect(ids).toEqual(step.fake.made.map(({ id }) => id));
			}
		},
	);
});
