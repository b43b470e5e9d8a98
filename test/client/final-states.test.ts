import { takeInlineFile } from '../../client/api/generation';
import { answer, wireGeneration } from '../support/answers';
import { keyed, runKeyed } from '../support/keyed-step';
import { MemoryTable } from '../support/memory-table';
import { batch, errorIn, inShort, Step, waitingFor, creating } from '../support/step';

/** Creates a step whose generations end with this status, which the service's specification does not name. */
function endingAs(status: string, error?: unknown): Step {
	const step = new Step({ stopOnError: false });
	step.fake.end = () => ({ status, error });
	return step;
}

describe('a generation that ends with a status outside of the specification', () => {
	it.each([
		'cancelled',
		'canceled',
		'expired',
		'rejected',
		'error',
		'timeout',
		'timed_out',
		'aborted',
		'CANCELLED',
		'Timed Out',
		'timed-out',
		'timedOut',
		' Expired ',
	])('ends the wait as soon as it is seen: %s', async (status) => {
		const step = endingAs(status, { message: 'out of paint' });
		const { outcomes } = await step.run(batch(1));
		const error = errorIn(outcomes[0]);
		expect(error).toMatchObject({
			code: 'generation_ended',
			charge: 'paid',
			generation: { id: 'generation-1' },
		});
		expect(error.message).toContain(status.trim());
		expect(error.message).toContain('out of paint');
		expect(step.elapsed).toBeLessThan(20_000);
	});

	it('claims no refund, and is not created again, neither in the step nor in its next attempt', async () => {
		const step = endingAs('cancelled');
		const jobs = () => batch(1, { retriesOnFailure: 5, fallbackModels: ['other'] });
		const { outcomes, stats } = await step.run(jobs());
		expect([stats.made, stats.recreated]).toEqual([1, 0]);
		expect(errorIn(outcomes[0]).description).toMatch(/not known.*refunded/);
		const again = await step.runAgain(jobs());
		expect(again.outcomes.map(inShort)).toEqual(['generation_ended generation-1']);
		expect(step.fake.creating).toHaveLength(1);
	});

	it('is an error of a step that does not wait, if the creating response says so', async () => {
		const step = new Step();
		step.fake.order('p0', (make) => {
			make();
			return answer(wireGeneration({ status: 'Rejected' }));
		});
		const { outcomes } = await step.run(batch(1, { wait: false }));
		expect(outcomes.map(inShort)).toEqual(['generation_ended generation-1']);
	});

	it('is an error of Wait for Completion, and is returned as it is by a single check', async () => {
		const step = endingAs('Cancelled');
		await step.run(batch(1, { wait: false }));
		const waited = await step.runAgain([waitingFor('generation-1')]);
		expect(waited.outcomes.map(inShort)).toEqual(['generation_ended generation-1']);
		const checked = await step.runAgain([waitingFor('generation-1', 0, { wait: false })]);
		expect(checked.outcomes.map(inShort)).toEqual(['Cancelled generation-1']);
	});

	it('ends no wait if the status is unknown, and the error of the timeout names it', async () => {
		const { outcomes } = await endingAs('in_review').run(batch(1, { timeoutMs: 30_000 }));
		const error = errorIn(outcomes[0]);
		expect(error).toMatchObject({ code: 'timeout', charge: 'paid' });
		expect(error.details).toContain('in_review');
	});
});

describe('a status that is spelled in another case', () => {
	it.each(['Completed', 'COMPLETED', ' completed'])(
		'completes a generation: %s',
		async (status) => {
			const { outcomes } = await endingAs(status).run(batch(1));
			expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		},
	);

	it('is refunded if it is a failure, which is created again', async () => {
		const step = endingAs('FAILED', 'no paint');
		const { outcomes, stats } = await step.run(batch(1, { retriesOnFailure: 1 }));
		expect(errorIn(outcomes[0])).toMatchObject({ code: 'generation_failed', charge: 'refunded' });
		expect([stats.made, stats.recreated]).toEqual([2, 1]);
	});
});

describe('an idempotency key whose generation ended with a status outside of the specification', () => {
	it('is not created again by itself, and the error names the key, the row and what to do', async () => {
		const step = endingAs('Cancelled');
		const table = new MemoryTable(step.time);
		const first = await runKeyed(step, table, 'one', [keyed('p0', 0, 'a')]);
		expect(table.rows).toMatchObject([{ generation_id: 'generation-1', status: 'Cancelled' }]);
		const second = await runKeyed(step, table, 'two', [keyed('p0', 0, 'a', { wait: false })]);
		for (const { outcomes } of [first, second]) {
			const error = errorIn(outcomes[0]);
			expect(error).toMatchObject({ code: 'generation_ended', charge: 'paid' });
			expect(error.description).toMatch(/key "a".*row 2 of the data table/);
			expect(error.description).toMatch(/delete (row 2|that row)/);
		}
		expect(step.fake.creating).toHaveLength(1);
	});
});

describe('a completed generation without an output URL', () => {
	const withoutUrl = (error?: unknown) => ({ status: 'completed', url: null, error });

	it.each([
		['of a step that waits', {}],
		['of a step that downloads by the output URL', { readiness: 'auto' as const }],
	])('is an error with the reason of the service: %s', async (_, changes) => {
		const step = new Step({ stopOnError: false });
		step.fake.url = () => null;
		step.fake.end = () =>
			withoutUrl({ code: 'content_filtered', message: 'The image was removed' });
		const { outcomes, stats } = await step.run(batch(1, { ...changes, retriesOnFailure: 2 }));
		const error = errorIn(outcomes[0]);
		expect(error).toMatchObject({ code: 'output_missing', charge: 'paid' });
		expect(error.message).toContain('The image was removed');
		expect(stats.made).toBe(1);
	});

	it.each([
		['the creating response of a step that does not wait', batch(1, { wait: false })],
		['a single check', [waitingFor('generation-1', 0, { wait: false })]],
		['a wait', [waitingFor('generation-1')]],
	])('is an error of %s', async (_, jobs) => {
		const step = new Step({ stopOnError: false });
		step.fake.replies = [answer(wireGeneration(withoutUrl('no bytes')))];
		const { outcomes } = await step.run(jobs);
		expect(errorIn(outcomes[0])).toMatchObject({ code: 'output_missing' });
	});

	it('is an error and no timeout if the deadline comes first', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.end = () => withoutUrl();
		const { outcomes } = await step.run(batch(1, { timeoutMs: 12_500, onTimeout: 'continue' }));
		expect(outcomes.map(inShort)).toEqual(['output_missing generation-1']);
	});
});

describe('an answer with several outputs', () => {
	it('returns the first, and says how many were left out', async () => {
		const step = new Step();
		step.fake.end = () => ({ status: 'completed', outputs: 3 });
		const { outcomes } = await step.run(batch(1));
		expect(outcomes).toMatchObject([{ kind: 'done', leftOut: 2 }]);
	});
});

const PNG = 'iVBORw0KGgo=';

/** A service that returns the file in its last status response, and has no output URL then. */
function inlineService(): Step {
	const step = new Step();
	step.fake.storage = () => ({ status: 404, oneByte: false });
	step.fake.end = () => ({ status: 'completed', url: null, b64_json: PNG });
	step.finish = async (_, generation) => {
		return { generation, output: takeInlineFile(generation)?.toString('base64') ?? 'no file' };
	};
	return step;
}

describe('a generation that is completed with its file in the response', () => {
	it.each(['auto', 'status', 'outputUrl'] as const)(
		'is ready with readiness %s',
		async (readiness) => {
			const step = inlineService();
			const { outcomes } = await step.run([creating('p0', 0, { readiness })]);
			expect(outcomes).toMatchObject([{ kind: 'done', output: PNG, generation: { url: null } }]);
		},
	);

	it('is ready in Wait for Completion, and in a single check', async () => {
		const step = inlineService();
		await step.run([creating('p0', 0, { wait: false })]);
		for (const wait of [true, false]) {
			await step.time.run(step.time.sleep(20_000));
			const { outcomes } = await step.runAgain([waitingFor('generation-1', 0, { wait })]);
			expect(outcomes).toMatchObject([{ kind: 'done', output: PNG }]);
		}
	});
});
