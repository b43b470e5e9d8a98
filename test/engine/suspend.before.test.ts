import { ExecuteContext } from 'n8n-core';

import { openStage } from './stage';

const stage = openStage();
const suspend = { mode: 'suspend' };
const idsOf = (...ids: string[]) => ids.map((id) => ({ id }));

describe('a wait that is set to suspend, before it does', () => {
	it('ends immediately, like polling, if its first status check is rejected', async () => {
		const ids = [await stage.made('a boat [seconds: 9000]'), await stage.made('a ship')];
		const action = { kind: 'respond', status: 404, body: 'default backend - 404' } as const;
		stage.sandbox.faults.order({ on: 'status', times: 1, action });
		stage.sandbox.requests.clear();
		const run = await stage.run('waitForCompletion', suspend, { items: idsOf(...ids) });
		expect(run.error).toMatchObject({ context: { itemIndex: 0, code: 'http_404' } });
		expect(stage.sandbox.requests.on('status').length).toBeLessThanOrEqual(ids.length);
	});

	it('is not suspended for generations that end soon', async () => {
		const id = await stage.made('a boat [seconds: 10]');
		const run = await stage.run('waitForCompletion', suspend, { items: idsOf(id) });
		expect(run.status).toBe('success');
		expect(run.output('Step')).toMatchObject([
			{ json: { id, status: 'completed' }, binary: { data: {} }, pairedItem: { item: 0 } },
		]);
		expect(stage.sandbox.requests.on('download')).toHaveLength(1);
	});

	it('polls, and says why, if failed items have their own output', async () => {
		const id = await stage.made('a boat');
		const order = { items: idsOf(id), settings: { onError: 'continueErrorOutput' as const } };
		const run = await stage.run('waitForCompletion', suspend, order);
		expect(run.output('Step')).toMatchObject([{ json: { id, status: 'completed' } }]);
		expect(run.hints('Step')).toMatchObject([
			{ message: expect.stringMatching(/^Polled instead of sleeping/), type: 'warning' },
		]);
	});

	it('polls, and says why, if n8n cannot suspend it', async () => {
		const id = await stage.made('a boat [seconds: 90]');
		const refused = new Error('The sub-workflow may not be called');
		jest.spyOn(ExecuteContext.prototype, 'executeWorkflow').mockRejectedValueOnce(refused);
		const settings = { onError: 'continueRegularOutput' as const };
		const run = await stage.run('waitForCompletion', suspend, { items: idsOf(id), settings });
		expect(run.output('Step')).toMatchObject([
			{ json: { id, status: 'completed' }, binary: { data: {} } },
		]);
		expect(run.hints('Step')).toContainEqual(
			expect.objectContaining({
				message: expect.stringMatching(/^Polled instead .* may not be called/) as string,
			}),
		);
	});
});
