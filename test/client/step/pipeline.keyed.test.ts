import { refusal } from '../../support/answers';
import { answerLost } from '../../support/fake-service';
import { keyed, runKeyed } from '../../support/keyed-step';
import { MemoryTable } from '../../support/memory-table';
import { creating, errorIn, inShort, Step } from '../../support/step';

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

it('a pause that the service asks for while a row is written delays the request of that row', async () => {
	const step = new Step({ stopOnError: false });
	const busy = refusal(503, 'service_unavailable');
	step.fake.order('p0', () => ({ ...busy, headers: { 'retry-after': '60' } }));
	const jobs = [creating('p0', 0), keyed('p1', 1, 'k')];
	await runKeyed(step, new MemoryTable(step.time), 'one', jobs);
	const [first, ...others] = step.fake.creating.map(({ at }) => at);
	expect(others.map((at) => at - first >= 60_000)).toEqual([true, true]);
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

	it('has no row if generations take long: that says that a request was sent', async () => {
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
});
