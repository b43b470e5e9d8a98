import type { Row } from '../../../client/jobs/row';
import { refusal } from '../../support/answers';
import { hanging } from '../../support/fake-service';
import { batch, errorIn, inShort, Step, waitingFor } from '../../support/step';

const unavailable = () => refusal(503, 'service_unavailable');

describe('a wait that polls because it could not be suspended', () => {
	it('checks every ID before it is reported as timed out, also if ten others use up the time', async () => {
		const step = new Step({ maxConcurrent: 10, stopOnError: false });
		step.fake.durationMs = (prompt) => (Number(prompt.slice(1)) < 10 ? 10_000_000 : 100_000);
		await step.run(batch(30, { wait: false }));
		const waitingSinceMs = step.time.now();
		await step.time.run(step.time.sleep(66_000));
		const jobs = Array.from({ length: 30 }, (_, index) =>
			waitingFor(`generation-${index + 1}`, index, { timeoutMs: 1_800_000, waitingSinceMs }),
		);
		const { outcomes } = await step.runAgain(jobs);
		expect(outcomes.map(inShort)).toEqual(
			jobs.map((_, index) =>
				index < 10 ? `timeout generation-${index + 1}` : `completed generation-${index + 1}`,
			),
		);
		expect(step.time.now() - waitingSinceMs).toBeLessThan(1_801_000);
	});
});

describe('a generation whose end is known is not reported as a timeout', () => {
	const silent = { 'a service that is down': unavailable, 'a service that hangs': hanging };
	type Trouble = keyof typeof silent;

	/** Waits for a generation whose end is known from before, while the service is in trouble. */
	async function endSeenBefore(trouble: Trouble, changes: Parameters<typeof waitingFor>[2] = {}) {
		const step = new Step({ stopOnError: false, pollIntervalMs: 200_000 });
		await step.run(batch(1, { wait: false }));
		await step.time.run(step.time.sleep(100_000));
		if (!changes.row) {
			step.checks = new Map();
			await step.runAgain([waitingFor('generation-1')]);
		}
		// The output URL of that check is old by now, so the status is requested again.
		await step.time.run(step.time.sleep(3_000_000));
		step.fake.orderLooks(...Array.from({ length: 500 }, () => silent[trouble]));
		const waitingSinceMs = step.time.now() - 3_000_000;
		const job = waitingFor('generation-1', 0, { waitingSinceMs, timeoutMs: 30_000, ...changes });
		return (await step.runAgain([job])).outcomes[0];
	}

	const each = (['error', 'continue'] as const).flatMap((onTimeout) =>
		(Object.keys(silent) as Trouble[]).map((trouble) => [trouble, onTimeout] as const),
	);

	it.each(each)('with %s, it is returned as last seen: %s', async (trouble, onTimeout) => {
		expect(await endSeenBefore(trouble, { onTimeout })).toMatchObject({
			kind: 'done',
			generation: { id: 'generation-1', status: 'completed', timed_out: false },
			output: 'file of generation-1',
		});
	});

	it.each(each)('with %s, and only a row that says so: %s', async (trouble, onTimeout) => {
		const row = rowOf('completed');
		const error = errorIn(await endSeenBefore(trouble, { onTimeout, row }));
		expect(error).toMatchObject({
			message: 'The generation is completed, but it could not be fetched',
			code: trouble === 'a service that hangs' ? 'connection_lost' : 'service_unavailable',
			charge: 'paid',
			generation: { id: 'generation-1', status: 'completed' },
		});
		expect(error.details).toContain('status check');
	});

	it('with a row that says that it failed', async () => {
		const row = rowOf('failed');
		const error = errorIn(await endSeenBefore('a service that hangs', { row }));
		expect(error).toMatchObject({ code: 'generation_failed', charge: 'refunded' });
	});
});

function rowOf(status: string): Row {
	const ofNode = { workflow_id: 'w', node_id: 'n', execution_id: '1', writer: 'w' };
	const ofRequest = { type: 'image', model: 'm', prompt: 'p', request: '', key: 'k' };
	return { id: 1, changedAt: null, generation_id: 'generation-1', status, ...ofNode, ...ofRequest };
}
