import type { CreateJob } from '../../client/job';
import { answer, refusal, wireGeneration } from '../support/answers';
import { answerLost, refused } from '../support/fake-service';
import { keyed, runKeyed } from '../support/keyed-step';
import { MemoryTable } from '../support/memory-table';
import { batch, creating, errorIn, inShort, Step } from '../support/step';

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
		const { outcomes } = await runKeyed(step, table, 'two', [keyed('p0', 0, 'a')]);
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

describe('a batch of 100 items that all take equally long', () => {
	/** Returns the virtual seconds that the batch takes, and its table calls. */
	async function play(seconds: number, jobOf: (index: number) => CreateJob) {
		const step = new Step({ maxConcurrent: 10 });
		step.fake.latencyMs = 100;
		step.fake.durationMs = () => seconds * 1000;
		let calls = 0;
		const fateOf = () => ({ beforeMs: 40, afterMs: 20 + (calls++ % 5) * 10 });
		const jobs = Array.from({ length: 100 }, (_, index) => jobOf(index));
		const { outcomes } = await runKeyed(step, new MemoryTable(step.time), 'one', jobs, fateOf);
		expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
		return { calls, seconds: step.elapsed / 1000 };
	}

	it.each([
		[2, 1.04],
		[10, 1.01],
		[60, 1.002],
	])(
		'of %i s: keys need fewer than 35 table calls, and take at most %f times as long',
		async (seconds, ratio) => {
			const withKeys = await play(seconds, (index) => keyed(`p${index}`, index, `key ${index}`));
			const without = await play(seconds, (index) => creating(`p${index}`, index));
			expect(withKeys.calls).toBeLessThan(35);
			expect(withKeys.seconds / without.seconds).toBeLessThan(ratio);
		},
	);
});
