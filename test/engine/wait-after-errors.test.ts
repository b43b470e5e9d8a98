import { openStage } from './stage';

const stage = openStage();

describe('Wait for Completion after a node that continues with failed items', () => {
	const refused = { id: null, error: 'Not enough credits', error_code: 'insufficient_credits' };

	it('returns the error of an input item, and waits for the others', async () => {
		const id = await stage.made('a boat');
		const settings = { onError: 'continueRegularOutput' as const };
		const run = await stage.run('waitForCompletion', {}, { items: [refused, { id }], settings });
		expect(run.output('Step').map(({ json }) => json)).toMatchObject([
			{ ...refused, error: expect.stringMatching(/^Not enough credits/) as string, status: null },
			{ id, status: 'completed' },
		]);
	});

	it.each(['batch_interrupted', 'wait_interrupted', 'record_unavailable', 'unexpected_error'])(
		'does not say "no charge" for an item that may have been charged: %s',
		async (error_code) => {
			const items = [{ id: null, error: 'It ended early', error_code }];
			const settings = { onError: 'continueRegularOutput' as const };
			const run = await stage.run('waitForCompletion', {}, { items, settings });
			expect(run.output('Step')[0].json).toMatchObject({ error_code });
			expect(run.output('Step')[0].json.error).not.toContain('Nothing was charged');
		},
	);

	it('stops with that error if On Error is Stop', async () => {
		const run = await stage.run('waitForCompletion', {}, { items: [refused] });
		expect(run.error).toMatchObject({
			message: 'Not enough credits',
			description: expect.stringMatching(/An earlier node failed for this item.*Filter node/s),
			context: { code: 'insufficient_credits', itemIndex: 0 },
		});
		expect(stage.arrived).toBe(0);
	});
});
