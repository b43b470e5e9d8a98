import { ExecuteContext } from 'n8n-core';

import { openStage } from './stage';

const stage = openStage();
const suspend = { mode: 'suspend' };
const late = { ...suspend, runOptions: { onTimeout: 'continue' } };
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

	it('is not suspended if less time than that is left', async () => {
		const id = await stage.made('a boat [seconds: 9000]');
		const runOptions = { ...late.runOptions, timeout: 20 };
		const run = await stage.run('waitForCompletion', { ...late, runOptions }, { items: idsOf(id) });
		expect(run.status).toBe('success');
		expect(run.output('Step')).toMatchObject([{ json: { id, timed_out: true } }]);
		expect(run.hints('Step').map(({ message }) => message)).toContain(
			'Polled instead of suspending, because every Timeout is shorter than 130 s',
		);
		// No other execution has begun.
		expect(stage.engine.execution(String(Number(run.executionId) + 1))).toBeUndefined();
	});

	it('sends no requests if an item is rejected before', async () => {
		const id = await stage.made('a boat [seconds: 900]');
		stage.sandbox.requests.clear();
		const run = await stage.run('waitForCompletion', suspend, { items: idsOf(id, '') });
		expect(run.error).toMatchObject({ context: { itemIndex: 1, code: 'invalid_input' } });
		expect(stage.arrived).toBe(0);
	});

	it('polls, and says why, if failed items have their own output', async () => {
		const id = await stage.made('a boat');
		const order = { items: idsOf(id), settings: { onError: 'continueErrorOutput' as const } };
		const run = await stage.run('waitForCompletion', suspend, order);
		expect(run.output('Step')).toMatchObject([{ json: { id, status: 'completed' } }]);
		expect(run.hints('Step')).toMatchObject([
			{ message: expect.stringMatching(/^Polled instead of suspending/), type: 'warning' },
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

	it('waits no longer than its timeout in total if n8n cannot suspend it', async () => {
		const id = await stage.made('a boat [seconds: 9000]');
		let asked = 0;
		jest.spyOn(ExecuteContext.prototype, 'executeWorkflow').mockImplementationOnce(async () => {
			stage.leap(1800);
			asked = stage.arrived;
			throw new Error('The sub-workflow may not be called');
		});
		const run = await stage.run('waitForCompletion', late, { items: idsOf(id) });
		expect(run.output('Step')).toMatchObject([{ json: { id, timed_out: true } }]);
		expect(stage.arrived).toBe(asked + 1);
	});

	it.each(['poll', 'suspend'])('returns what is ready within a short timeout: %s', async (mode) => {
		stage.setPace(20);
		const ids = [await stage.made('a boat [seconds: 30]'), await stage.made('a ship [seconds: 0]')];
		const items = idsOf(...ids).map((item, index) => ({ ...item, timeout: [1800, 20][index] }));
		const parameters = {
			mode,
			downloadOutput: false,
			runOptions: { timeout: '={{ $json.timeout }}' },
		};
		const run = await stage.run('waitForCompletion', parameters, { items });
		expect(run.output('Step').map(({ json }) => [json.id, json.status])).toEqual(
			ids.map((id) => [id, 'completed']),
		);
	});

	it('names what had little time where another item ends it before it sleeps', async () => {
		stage.setPace(20);
		const texts = ['a boat [seconds: 10] [fail: no paint]', 'a ship [seconds: 900]'];
		const ids = [await stage.made(texts[0]), await stage.made(texts[1])];
		const items = idsOf(...ids).map((item, index) => ({ ...item, timeout: [1800, 40][index] }));
		const parameters = { ...suspend, runOptions: { timeout: '={{ $json.timeout }}' } };
		const run = await stage.run('waitForCompletion', parameters, { items });
		expect(run.error).toHaveProperty('description', expect.stringContaining(ids[1]));
	});
});
