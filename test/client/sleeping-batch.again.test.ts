import { newMemory } from '../../client/jobs/memory';
import { newRow } from '../../client/orders/table';
import { keyed } from '../support/keyed-step';
import { MemoryTable } from '../support/memory-table';
import { sleepThrough } from '../support/sleeping-batch';
import { creating, Step } from '../support/step';

/** What a wave makes of what the waves before it have left. */

/** Runs a batch whose last wave was killed after it had claimed the key of its only item. */
async function afterKilledWave(onUncertainCharge: 'error' | 'resubmit') {
	const step = new Step({ stopOnError: false });
	const table = new MemoryTable(step.time);
	const scope = { workflowId: 'w', nodeId: 'n', executionId: 'batch' };
	const claimed = { status: 'sent', writer: 'token/killed/1', changedAt: step.time.now(), id: 1 };
	table.rows.push({ ...newRow(scope, 'k'), ...claimed });
	const job = keyed('p0', 0, 'k', { onUncertainCharge, timeoutMs: 600_000 });
	const { settled } = await step.time.run(sleepThrough(step, table, [job]));
	return { step, code: settled[0]?.code ?? settled[0] };
}

it('a request of a killed wave is uncertain at once: the waves of a batch follow each other', async () => {
	const { step, code } = await afterKilledWave('error');
	expect([code, step.fake.creating]).toEqual(['uncertain_charge', []]);
	expect(step.elapsed).toBeLessThan(5_000);
});

it('a request of a killed wave is sent again after two minutes, with Send Again: the wave may still live', async () => {
	const { step, code } = await afterKilledWave('resubmit');
	const [sent] = step.fake.creating;
	expect([code, step.fake.creating.length]).toEqual([null, 1]);
	expect(sent.at - step.time.now() + step.elapsed).toBeGreaterThan(115_000);
});

it('a long poll interval does not delay the creating requests of the next wave', async () => {
	const step = new Step({ pollIntervalMs: 600_000 });
	step.memory = newMemory('token', step.time.now());
	const { memory } = await step.run([creating('p0', 0, { wait: false })]);
	step.memory = memory ?? undefined;
	await step.runAgain([creating('p1', 1, { wait: false })]);
	expect(step.fake.creating).toHaveLength(2);
	expect(step.elapsed).toBeLessThan(5_000);
});
