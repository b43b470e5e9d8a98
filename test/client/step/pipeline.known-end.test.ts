import { batch, inShort, Step, waitingFor } from '../../support/step';

describe('a wait that polls because it could not be suspended', () => {
	it('checks every ID before it is reported as timed out, also if ten others use up the time', async () => {
		const step = new Step({ maxConcurrent: 10, stopOnError: false });
		step.fake.durationMs = (prompt) => (Number(prompt.slice(1)) < 10 ? 10_000_000 : 100_000);
		await step.run(batch(30, { wait: false }));
		const waitingSince = step.time.now();
		step.sleptSince(waitingSince);
		await step.time.run(step.time.sleep(66_000));
		const jobs = Array.from({ length: 30 }, (_, index) =>
			waitingFor(`generation-${index + 1}`, index, { timeoutMs: 1_800_000 }),
		);
		const { outcomes } = await step.runAgain(jobs);
		expect(outcomes.map(inShort)).toEqual(
			jobs.map((_, index) =>
				index < 10 ? `timeout generation-${index + 1}` : `completed generation-${index + 1}`,
			),
		);
		expect(step.time.now() - waitingSince).toBeLessThan(1_801_000);
	});
});
