import { answer, refusal, wireGeneration } from '../support/answers';
import { answerLost, refused } from '../support/fake-service';
import { keyed, runKeyed } from '../support/keyed-step';
import { MemoryTable } from '../support/memory-table';
import { batch, errorIn, inShort, Step } from '../support/step';

/** What a first execution has made for the key `a` is on record. */
async function afterOne(settings = { stopOnError: false }) {
	const step = new Step(settings);
	const table = new MemoryTable(step.time);
	await runKeyed(step, table, 'one', [keyed('p0', 0, 'a')]);
	expect(table.rows[0]).toMatchObject({ generation_id: 'generation-1' });
	return { step, table };
}

describe('what another execution has made for a key is named', () => {
	it.each([
		['is in trouble', Array(7).fill(() => refusal(503, 'service_unavailable'))],
		['refuses the key of the account', [() => refusal(401, 'expired_api_key')]],
	])('where the service %s when it is looked at', async (_, looks) => {
		const { step, table } = await afterOne();
		step.fake.orderLooks(...looks);
		const { outcomes } = await runKeyed(step, table, 'two', [keyed('p0', 0, 'a')]);
		expect(errorIn(outcomes[0])).toMatchObject({
			charge: 'paid',
			generation: { id: 'generation-1' },
		});
	});

	it('where another item ends the step', async () => {
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

	it('where the user stops the step, also of an item that was not begun', async () => {
		const { step, table } = await afterOne();
		step.fake.latencyMs = 5000;
		step.settings.maxConcurrent = 1;
		step.stopAt(step.elapsed + 1000);
		const jobs = [keyed('p1', 0, 'b'), keyed('p0', 1, 'a')];
		const { outcomes } = await runKeyed(step, table, 'two', jobs);
		expect(outcomes.map(inShort)[1]).toBe('stopped generation-1');
	});
});

describe('a replica that lags', () => {
	it.each([
		['the item that has ordered it', 1],
		['another item with its key', 2],
	])('denies nobody what was made a moment ago: %s', async (_, items) => {
		const step = new Step({ stopOnError: false });
		step.fake.orderLooks(() => refusal(404, 'generation_not_found'));
		const jobs = Array.from({ length: items }, (__, index) => keyed('p0', index, 'a'));
		const { outcomes } = await runKeyed(step, new MemoryTable(step.time), 'one', jobs);
		expect(outcomes.map(inShort)).toEqual(jobs.map(() => 'completed generation-1'));
	});

	it('denies nothing to a retry', async () => {
		const step = new Step();
		step.fake.order('p1', refused(422, 'unsupported_parameter'));
		await step.run(batch(2));
		step.fake.orderLooks(() => refusal(404, 'generation_not_found'));
		const { outcomes } = await step.runAgain(batch(2));
		expect(outcomes.map(inShort)).toEqual(['completed generation-1', 'completed generation-2']);
	});
});

describe('items with one key that is resubmitted', () => {
	it('are sent again three times in all, whichever of them is', async () => {
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

it.each([2, 10, 60])(
	'a batch of 100 calls the table less than 35 times: %i s each',
	async (seconds) => {
		const step = new Step({ maxConcurrent: 10 });
		step.fake.latencyMs = 100;
		step.fake.durationMs = () => seconds * 1000;
		const jobs = Array.from({ length: 100 }, (_, index) =>
			keyed(`p${index}`, index, `key ${index}`),
		);
		let calls = 0;
		const fateOf = () => ({ beforeMs: 40, afterMs: 20 + (calls++ % 5) * 10 });
		const { outcomes } = await runKeyed(step, new MemoryTable(step.time), 'one', jobs, fateOf);
		expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
		expect(calls).toBeLessThan(35);
	},
);
