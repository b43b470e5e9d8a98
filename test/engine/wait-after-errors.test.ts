import { openStage } from './stage';

const stage = openStage();

describe('Wait for Completion after a node that continues with failed items', () => {
	const refused = { id: null, error: 'Not enough credits', error_code: 'insufficient_credits' };

	it('returns an error for an input item that failed, and waits for the others', async () => {
		const id = await stage.made('a boat');
		const settings = { onError: 'continueRegularOutput' as const };
		const run = await stage.run('waitForCompletion', {}, { items: [refused, { id }], settings });
		expect(run.output('Step').map(({ json }) => json)).toMatchObject([
			{ id: null, error: expect.stringContaining('Not enough credits') as string, status: null },
			{ id, status: 'completed' },
		]);
	});

	it('does not say "no charge", but quotes what the earlier node says about it', async () => {
		const error = 'The service’s response was lost: this item may have been charged';
		const items = [{ id: 7, error, error_code: 'uncertain_charge' }];
		const run = await stage.run('waitForCompletion', {}, { items });
		expect(run.error).toMatchObject({
			message: 'This item has no generation ID',
			description: expect.stringMatching(new RegExp(`An earlier node failed.*${error}`)) as string,
			context: { code: 'invalid_input', itemIndex: 0 },
		});
		expect(run.error?.description).not.toContain('Nothing was charged');
		expect(stage.arrived).toBe(0);
	});
});
