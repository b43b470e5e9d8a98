import { batch, inShort, waitingFor } from '../../support/step';
import { auto, gaps, INTERVAL_MS, stepOf } from './watched';

describe('what is asked for once more, as for a fresh URL', () => {
	it('waits for its turn', async () => {
		const step = stepOf(5000);
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

	it('is taken from whoever has watched before in the same step', async () => {
		const step = stepOf(5000);
		step.looks = new Map();
		await step.run(batch(1, auto));
		const before = step.fake.looksAt('generation-1').length;
		const { outcomes } = await step.runAgain([waitingFor('generation-1', 0, auto)]);
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		expect(step.fake.looksAt('generation-1')).toHaveLength(before);
	});

	it('is asked for once, however many items want it, and not any more once the step has ended', async () => {
		const step = stepOf(5000);
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

	it('is asked for at once where the status was asked for long ago', async () => {
		const step = stepOf(5000);
		let took = Infinity;
		step.finish = async (_job, generation, _signal, refresh) => {
			await step.time.sleep(INTERVAL_MS);
			const from = step.time.now();
			await refresh();
			took = step.time.now() - from;
			return { generation, output: '' };
		};
		await step.run(batch(1, auto));
		expect(took).toBe(0);
	});
});
