import { refused } from '../../support/fake-service';
import { keyed, runKeyed } from '../../support/keyed-step';
import { MemoryTable } from '../../support/memory-table';
import { batch, creating, errorIn, Step } from '../../support/step';

/** The call of an agent, whose caller gives up at the timeout. */

const call = { timeoutMs: 45_000, countsFromStart: true };
const tooLate = {
	code: 'timeout',
	charge: 'none',
	message: expect.stringContaining('within 45 s'),
};

/** When the creating requests were sent, in milliseconds after the start. */
const sentAt = ({ fake, time, elapsed }: Step) =>
	fake.creating.map(({ at }) => at - time.now() + elapsed);

describe('the tool of an agent sends no creating request after its timeout', () => {
	it.each(['error', 'continue'] as const)(
		'if other outputs take the time, with On Timeout set to %s',
		async (onTimeout) => {
			const step = new Step({ stopOnError: false, maxConcurrent: 1 });
			step.fake.durationMs = () => 60_000;
			const { outcomes } = await step.run(batch(2, { ...call, onTimeout }));
			expect(errorIn(outcomes[1])).toMatchObject(tooLate);
			expect(sentAt(step)).toEqual([0]);
		},
	);

	it('if the service rejects the earlier ones, and the error says why', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.order('p0', ...Array(6).fill(refused(503, 'service_unavailable')));
		const { outcomes } = await step.run(batch(1, call));
		expect(errorIn(outcomes[0])).toMatchObject({
			...tooLate,
			details: expect.stringContaining('down for maintenance'),
		});
		expect(sentAt(step)).toEqual([0, 1, 3, 7, 15, 30].map((second) => second * 1000));
	});

	it('if the data table takes the time', async () => {
		const step = new Step({ stopOnError: false, maxConcurrent: 1 });
		step.fake.durationMs = () => 35_000;
		const table = new MemoryTable(step.time);
		const jobs = [creating('p0'), keyed('p1', 1, 'a', call)];
		const slow = () => ({ beforeMs: 10_000, afterMs: 0 });
		const { outcomes } = await runKeyed(step, table, 'one', jobs, slow);
		expect(errorIn(outcomes[1])).toMatchObject(tooLate);
		expect([step.fake.creating.map(({ prompt }) => prompt), table.rows]).toEqual([['p0'], []]);
	});
});
