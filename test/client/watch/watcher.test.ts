import { answer, wireGeneration } from '../../support/answers';
import { batch, errorIn, inShort, waitingFor } from '../../support/step';
import { auto, gaps, INTERVAL_MS, stepOf } from './watched';

describe('a status that is requested again, such as for a fresh URL', () => {
	it('is requested when the poll interval allows', async () => {
		const step = stepOf(3000);
		const asked: number[] = [];
		step.finish = async (_job, generation, _signal, refresh) => {
			for (let times = 0; times < 2; times++) {
				await refresh();
				asked.push(step.time.now());
			}
			return { generation, output: '' };
		};
		const { outcomes } = await step.run(batch(1, auto));
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		expect(step.fake.looksAt('generation-1')).toHaveLength(3);
		expect(gaps(step.fake)).toEqual([INTERVAL_MS, INTERVAL_MS]);
	});

	it('is requested once for all items with the same generation, and never after the step has ended', async () => {
		const step = stepOf(3000);
		await step.run(batch(1, { wait: false }));
		const refreshed: unknown[] = [];
		step.finish = async (_job, generation, _signal, refresh) => {
			refreshed.push((await refresh()).item.id);
			return { generation, output: '' };
		};
		await step.runAgain([0, 1, 2, 3].map((index) => waitingFor('generation-1', index, auto)));
		expect(refreshed).toEqual(Array(4).fill('generation-1'));
		expect(Math.min(...gaps(step.fake))).toBe(INTERVAL_MS);

		const before = step.fake.looksAt('generation-1').length;
		const { finish } = step;
		step.finish = async (...args) => {
			step.time.at(step.time.now() + 1000, () => step.cancel.abort());
			return await finish(...args);
		};
		await step.runAgain([waitingFor('generation-1', 0, auto)]);
		expect(step.fake.looksAt('generation-1')).toHaveLength(before + 1);
	});
});

describe('the status of an ID that a user has entered', () => {
	const id = '1a111111-1111-4111-8111-11111111111b';
	const said = (of: string) => answer(wireGeneration({ id: of, status: 'completed' }));

	it('is requested again if the first response is about another generation', async () => {
		const step = stepOf(0);
		step.fake.replies = [said(id.replace('1a', '2a')), said(id)];
		const { outcomes } = await step.run([waitingFor(id)]);
		expect(outcomes.map(inShort)).toEqual([`completed ${id}`]);
		expect(step.fake.seen).toHaveLength(2);
	});

	it.each([true, false])(
		'is an error at its Timeout if all responses are about another one (wait: %j)',
		async (wait) => {
			const step = stepOf(0);
			step.fake.replies = [said(id.replace('1a', '2a'))];
			const { outcomes } = await step.run([waitingFor(id, 0, { wait, timeoutMs: 60_000 })]);
			expect(outcomes.map(inShort)).toEqual([`timeout ${id}`]);
			expect(errorIn(outcomes[0]).details).toContain('another generation');
		},
	);
});

describe('the status checks of a step that has slept', () => {
	async function slept(durationMs: number) {
		const step = stepOf(durationMs);
		await step.run(batch(1, { wait: false }));
		step.sleptSince(step.time.now(), 'generation-1');
		await step.time.run(step.time.sleep(70_000));
		return step;
	}

	it('are not sent before the time that an earlier run was told', async () => {
		const step = await slept(600_000);
		const heldUntil = step.time.now() + 100_000;
		Object.assign(step, { memory: { ...step.memory, heldUntil } });
		await step.runAgain([waitingFor('generation-1')]);
		const [first] = step.fake.looksAt('generation-1');
		expect(first.at).toBeGreaterThanOrEqual(heldUntil);
	});
});
