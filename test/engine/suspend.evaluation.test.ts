import { items, openKeyedStage, workflowWith } from './keyed';

const { stage, created } = openKeyedStage();
const mode = 'evaluation';

/** n8n counts a sleeping case of an evaluation as ended, without its metrics. */
describe('a case of an evaluation', () => {
	it('polls for a wait that is set to suspend, and says why', async () => {
		const id = await stage.made('a boat [seconds: 300]');
		const run = await stage.run(
			'waitForCompletion',
			{ mode: 'suspend' },
			{ items: [{ id }], mode },
		);
		expect(run.status).toBe('success');
		expect(run.output('Step')).toMatchObject([{ json: { id, status: 'completed' } }]);
		expect(run.hints('Step')).toContainEqual(
			expect.objectContaining({
				message: expect.stringMatching(/^Polled instead of sleeping, .*evaluation/) as string,
				type: 'warning',
			}),
		);
	});

	it('polls for a batch that is set to suspend, and says why', async () => {
		const step = workflowWith({
			downloadOutput: false,
			options: { idempotencyKey: '={{ $json.key }}' },
			runOptions: { whileWaiting: 'suspend' },
		});
		const order = { items: items(['a', 'a boat [seconds: 300]']), mode } as const;
		const run = await stage.runWorkflow(step, order);
		expect(run.status).toBe('success');
		expect(run.output('Step')).toMatchObject([{ json: { status: 'completed' } }]);
		expect(run.hints('Step')).toContainEqual(
			expect.objectContaining({
				message: expect.stringMatching(/^Polled instead of sleeping, .*evaluation/) as string,
			}),
		);
		expect(created()).toBe(1);
	});
});
