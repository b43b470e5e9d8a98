import { NodeConnectionTypes } from 'n8n-workflow';
import type { INodeType } from 'n8n-workflow';

import { binaryOf, openStage, sha256 } from './stage';

/** As much of n8n's If as a suspended wait needs: one condition, which is true or not. */
const ifNode: INodeType = {
	description: {
		name: 'if',
		displayName: 'If',
		group: ['transform'],
		version: [2, 2.2],
		description: 'Tells items apart',
		defaults: { name: 'If' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main, NodeConnectionTypes.Main],
		properties: [{ displayName: 'Conditions', name: 'conditions', type: 'json', default: '' }],
	},
	async execute() {
		const holds = this.getInputData().map((_, index) => {
			const given = this.getNodeParameter('conditions', index) as {
				conditions: Array<{ leftValue: unknown }>;
			};
			return given.conditions[0].leftValue === true;
		});
		const those = (wanted: boolean) =>
			this.getInputData().filter((_, index) => holds[index] === wanted);
		return [those(true), those(false)];
	},
};

const stage = openStage({ extraNodes: { 'n8n-nodes-base.if': ifNode } });
const suspend = { mode: 'suspend' };
const idsOf = (...ids: string[]) => ids.map((id) => ({ id }));

describe('a suspended wait', () => {
	it('sleeps, asks nothing meanwhile, and wakes to hand on the files, paid once', async () => {
		const ids = [await stage.made('a boat [seconds: 900]'), await stage.made('a ship')];
		const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(...ids) });
		expect(asleep.status).toBe('waiting');
		stage.sandbox.requests.clear();
		await new Promise((resolve) => setTimeout(resolve, 100));
		expect(stage.arrived).toBe(0);
		stage.sandbox.service.finish(ids[0]);
		const awake = await stage.engine.resume(asleep);
		expect(awake.status).toBe('success');
		const items = awake.output('Step');
		expect(items.map(({ json }) => [json.id, json.status])).toEqual(
			ids.map((id) => [id, 'completed']),
		);
		for (const [index, item] of items.entries()) {
			const bytes = await awake.binary(binaryOf(item));
			expect(sha256(bytes)).toBe(sha256(await stage.served(ids[index])));
		}
		expect(stage.sandbox.books.totals).toMatchObject({ created: 2, charged: 2 });
	});

	it('sleeps again for as long as anything is unfinished', async () => {
		const id = await stage.made('a boat [seconds: 9000]');
		const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(id) });
		const still = await stage.engine.resume(asleep);
		expect(still.status).toBe('waiting');
		stage.sandbox.service.finish(id);
		const awake = await stage.engine.resume(still);
		expect(awake.output('Step')).toMatchObject([{ json: { id, status: 'completed' } }]);
	});

	it('does not sleep for what has soon ended', async () => {
		const id = await stage.made('a boat [seconds: 10]');
		const run = await stage.run('waitForCompletion', suspend, { items: idsOf(id) });
		expect(run.status).toBe('success');
		expect(run.output('Step')).toMatchObject([
			{ json: { id, status: 'completed' }, binary: { data: {} }, pairedItem: { item: 0 } },
		]);
	});

	it('ends as an error where a generation fails while it sleeps', async () => {
		const id = await stage.made('a boat [seconds: 900]');
		const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(id) });
		stage.sandbox.service.finish(id, 'no paint');
		const awake = await stage.engine.resume(asleep);
		expect(awake.status).toBe('error');
		expect(awake.error?.message).toMatch(/failed\W+no paint/);
	});

	it('goes on with failed items where On Error says so', async () => {
		const ids = [await stage.made('a boat [seconds: 900]'), await stage.made('a ship [fail]')];
		const settings = { onError: 'continueRegularOutput' as const };
		const order = { items: [...idsOf(...ids, ''), {}, { id: null }], settings };
		const asleep = await stage.run('waitForCompletion', suspend, order);
		expect(asleep.status).toBe('waiting');
		stage.sandbox.service.finish(ids[0]);
		const awake = await stage.engine.resume(asleep);
		expect(awake.output('Step').map(({ json }) => json.error_code ?? json.status)).toEqual([
			'completed',
			'generation_failed',
			'invalid_input',
			'invalid_input',
			'invalid_input',
		]);
	});

	it('polls, and says why, where failed items have an output of their own', async () => {
		const id = await stage.made('a boat');
		const order = { items: idsOf(id), settings: { onError: 'continueErrorOutput' as const } };
		const run = await stage.run('waitForCompletion', suspend, order);
		expect(run.output('Step')).toMatchObject([{ json: { id, status: 'completed' } }]);
		expect(run.hints('Step')).toMatchObject([
			{ message: expect.stringMatching(/^Polled instead of suspending/) },
		]);
	});
});
