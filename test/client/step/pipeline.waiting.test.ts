import { refusal } from '../../support/answers';
import { batch, creating, errorIn, inShort, Step, waitingFor } from '../../support/step';

describe('waiting', () => {
	it('checks a generation until it has ended', async () => {
		const step = new Step();
		await step.run(batch(1));
		expect(step.fake.looksAt('generation-1')).toHaveLength(4);
		expect(step.elapsed).toBe(12_000);
	});

	it('is not needed for a generation that is returned as it is', async () => {
		const step = new Step({ maxConcurrent: 2 });
		const { outcomes } = await step.run(batch(5, { wait: false }));
		expect(outcomes.map(inShort)).toEqual([1, 2, 3, 4, 5].map((n) => `pending generation-${n}`));
		expect([step.elapsed, step.fake.seen.length]).toEqual([0, 5]);
	});

	it('starts with an immediate status check of given ids', async () => {
		const step = new Step();
		await step.run(batch(3, { wait: false }));
		step.fake.seen.length = 0;
		const ids = ['generation-2', 'generation-1', 'generation-3'];
		const { outcomes } = await step.runAgain(ids.map((id, index) => waitingFor(id, index)));
		expect(outcomes.map(inShort)).toEqual(ids.map((id) => `completed ${id}`));
		expect(step.fake.creating).toEqual([]);
		const atOnce = step.fake.seen.filter(({ at }) => at === step.fake.seen[0].at);
		expect(atOnce).toHaveLength(3);
		expect(outcomes[0]).toMatchObject({ output: 'file of generation-2' });
	});

	it('is not needed for ids that are only checked once, in any status', async () => {
		const step = new Step();
		step.fake.failure = (prompt) => (prompt === 'p1' ? 'out of paint' : undefined);
		await step.run(batch(2, { wait: false }));
		await step.time.run(step.time.sleep(20_000));
		await step.runAgain([creating('p9', 9, { wait: false })]);
		const { outcomes } = await step.runAgain(
			[1, 2, 3].map((n) => waitingFor(`generation-${n}`, n, { wait: false })),
		);
		expect(outcomes.map(inShort)).toEqual([
			'completed generation-1',
			'failed generation-2',
			'processing generation-3',
		]);
	});

	it('continues while other items are created', async () => {
		const step = new Step();
		await step.run([creating('early', 0, { wait: false })]);
		const jobs = [creating('p0', 0), waitingFor('generation-1', 1), creating('p2', 2)];
		const { outcomes, stats } = await step.runAgain(jobs);
		expect(outcomes.map(inShort)).toEqual([
			'completed generation-2',
			'completed generation-1',
			'completed generation-3',
		]);
		expect(stats.made).toBe(2);
	});

	it('continues through transient errors', async () => {
		const step = new Step();
		step.fake.orderLooks(() => refusal(503, 'service_unavailable'));
		const { outcomes } = await step.run(batch(1));
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
	});
});

describe('a timeout', () => {
	it('is an error that names the generation, which was charged', async () => {
		const step = new Step();
		step.fake.durationMs = () => 100_000;
		const { outcomes } = await step.run(batch(1, { timeoutMs: 31_000 }));
		expect(errorIn(outcomes[0])).toMatchObject({
			code: 'timeout',
			charge: 'paid',
			generation: { id: 'generation-1', status: 'processing' },
		});
		expect(step.elapsed).toBe(31_000);
	});

	it('returns the unfinished generation if the step is set to continue', async () => {
		const step = new Step();
		step.fake.durationMs = () => 100_000;
		const jobs = batch(1, { timeoutMs: 31_000, onTimeout: 'continue' });
		const { outcomes, firstFailed } = await step.run(jobs);
		expect(outcomes[0]).toMatchObject({
			kind: 'done',
			generation: { id: 'generation-1', status: 'processing', timed_out: true },
		});
		expect(firstFailed).toBeNull();
	});

	it.each([
		['continue', 13_000, 'done'],
		['continue', 600_000, 'done'],
		['error', 13_000, 'error'],
	] as const)('during an outage ends the wait: %s, %d ms', async (onTimeout, timeoutMs, kind) => {
		const step = new Step();
		step.fake.durationMs = () => 900_000;
		const outage = Array.from({ length: 99 }, () => () => refusal(503, 'service_unavailable'));
		step.fake.orderLooks(() => undefined, ...outage);
		const { outcomes } = await step.run(batch(1, { timeoutMs, onTimeout }));
		expect(outcomes[0]).toMatchObject(
			kind === 'done'
				? { kind, generation: { id: 'generation-1', status: 'processing', timed_out: true } }
				: {
						kind,
						error: { code: 'timeout', charge: 'paid' },
					},
		);
	});

	it('counts for each generation from its own start', async () => {
		const step = new Step({ maxConcurrent: 1 });
		const { outcomes } = await step.run(batch(5, { timeoutMs: 13_000 }));
		expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
	});

	it('counts from the start of the step for ids from the user, however late their turn comes', async () => {
		const step = new Step({ maxConcurrent: 2, stopOnError: false });
		step.fake.durationMs = (prompt) => (prompt === 'p5' ? 10_000 : 1_000_000);
		await step.run(batch(6, { wait: false }));
		const ids = [1, 2, 3, 4, 5, 6].map((n) => `generation-${n}`);
		const jobs = ids.map((id, index) => waitingFor(id, index, { timeoutMs: 20_000 }));
		const { outcomes } = await step.runAgain(jobs);
		expect(outcomes.map(inShort)).toEqual([
			...ids.slice(0, 5).map((id) => `timeout ${id}`),
			'completed generation-6',
		]);
		expect(step.elapsed).toBe(20_000);
	});

	it('counts from before the step if the wait began before it', async () => {
		const step = new Step();
		step.fake.durationMs = () => 100_000;
		await step.run(batch(1, { wait: false }));
		step.sleptSince(step.time.now() - 25_000, 'generation-1');
		const jobs = [waitingFor('generation-1', 0, { timeoutMs: 30_000 })];
		expect((await step.runAgain(jobs)).outcomes.map(inShort)).toEqual(['timeout generation-1']);
		expect(step.elapsed).toBe(5000);
	});

	it('that passed before the step leaves time for one status check: the generation may have ended in the meantime', async () => {
		const step = new Step();
		await step.run(batch(1, { wait: false }));
		await step.time.run(step.time.sleep(100_000));
		step.sleptSince(step.time.now() - 100_000, 'generation-1');
		const jobs = [waitingFor('generation-1', 0, { timeoutMs: 30_000 })];
		expect((await step.runAgain(jobs)).outcomes.map(inShort)).toEqual(['completed generation-1']);
	});

	it('that passed before the step ends after one status check', async () => {
		const step = new Step();
		step.fake.durationMs = () => 1_000_000;
		await step.run(batch(1, { wait: false }));
		step.sleptSince(step.time.now() - 100_000, 'generation-1');
		const before = step.fake.looksAt('generation-1').length;
		const jobs = [waitingFor('generation-1', 0, { timeoutMs: 30_000 })];
		expect((await step.runAgain(jobs)).outcomes.map(inShort)).toEqual(['timeout generation-1']);
		expect(step.fake.looksAt('generation-1')).toHaveLength(before + 1);
	});

	it('does not occupy a slot of the step', async () => {
		const step = new Step({ maxConcurrent: 1, stopOnError: false });
		step.fake.durationMs = (prompt) => (prompt === 'p0' ? 1_000_000 : 1000);
		const { outcomes } = await step.run(batch(2, { timeoutMs: 20_000 }));
		expect(outcomes.map(inShort)).toEqual(['timeout generation-1', 'completed generation-2']);
	});
});
