import type { INodeParameters } from 'n8n-workflow';

import { items, keyed, openKeyedStage, workflowWith } from './keyed';
import { byId, prompts } from './stage';

const { stage, rows, created, execute } = openKeyedStage();

const several = (numberOfOutputs: number, more: INodeParameters = {}): INodeParameters => ({
	downloadOutput: false,
	numberOfOutputs,
	...more,
});
const promptsMade = () => stage.sandbox.books.generations.map(({ prompt }) => prompt).sort();

describe('Number of Images', () => {
	it('creates, charges and returns each output by itself, in order and paired', async () => {
		const run = await stage.run('imageGeneration', several(3), {
			items: prompts('a boat', 'a ship'),
		});
		const output = run.output('Step');
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual(
			[0, 0, 0, 1, 1, 1].map((item) => ({ item })),
		);
		expect(new Set(output.map(({ json }) => json.id)).size).toBe(6);
		expect(output.map(({ json }) => stage.sandbox.books.find(String(json.id))?.prompt)).toEqual([
			...['a boat', 'a boat', 'a boat'],
			...['a ship', 'a ship', 'a ship'],
		]);
		expect(stage.sandbox.books.liveChargesFor('a boat')).toBe(3);
	});

	it('adds one to a given seed for each further output', async () => {
		const parameters = several(3, { model: byId('aurora-image-1'), options: { seed: 7 } });
		await stage.run('imageGeneration', parameters, { items: prompts('a boat') });
		const seeds = stage.bodies.map(({ parameters: sent }) => (sent as { seed: number }).seed);
		expect(seeds.sort()).toEqual([7, 8, 9]);
	});
});

describe('a later try', () => {
	it('with a higher number creates only those that are missing', async () => {
		const match = { promptIncludes: 'ship' };
		stage.sandbox.faults.order({ on: 'create', match, action: { kind: 'fail' } });
		const list = { items: prompts('a boat', 'a ship') };
		const failed = await stage.runWorkflow(workflowWith(several(1)), list);
		expect(failed.status).toBe('error');
		const run = await stage.engine.retry(failed, { workflow: workflowWith(several(3)) });
		expect(run.output('Step')).toHaveLength(6);
		expect(stage.sandbox.books.liveChargesFor('a boat')).toBe(3);
		expect(stage.sandbox.books.liveChargesFor('a ship')).toBe(3);
	});

	it('whose item is no longer valid names every charged generation', async () => {
		const match = { promptIncludes: 'ship' };
		stage.sandbox.faults.order({ on: 'create', match, action: { kind: 'fail' } });
		const list = { items: prompts('a boat', 'a ship') };
		const failed = await stage.runWorkflow(workflowWith(several(2)), list);
		const broken = workflowWith(several(2, { options: { size: 'large' } }), {
			onError: 'continueRegularOutput',
		});
		const run = await stage.engine.retry(failed, { workflow: broken });
		const paid = stage.sandbox.books.generations
			.filter(({ charged, refunded }) => charged > refunded)
			.map(({ id }) => id);
		const named = run.output('Step').flatMap(({ json }) => json.id ?? []);
		expect(named.sort()).toEqual(paid.sort());
	});
});

describe('with an idempotency key', () => {
	const keyedTimes = (numberOfOutputs: number) => ({ ...keyed, numberOfOutputs });

	it('the first output has the key, and the others its number', async () => {
		await execute(items(['a', 'a boat'], ['b', 'a ship']), keyedTimes(3));
		expect(
			rows()
				.map(({ key }) => key)
				.sort(),
		).toEqual(['a', 'a#2', 'a#3', 'b', 'b#2', 'b#3']);
		expect(new Set(rows().map(({ generation_id: id }) => id)).size).toBe(6);
	});

	it('a higher number later creates only those that are missing, without a hint of a change', async () => {
		const list = items(['a', 'a boat']);
		const [first] = (await execute(list, keyedTimes(1))).output('Step');
		const run = await execute(list, keyedTimes(3));
		const output = run.output('Step');
		expect(output).toHaveLength(3);
		expect(output[0].json.id).toBe(first.json.id);
		expect(promptsMade()).toEqual(['a boat', 'a boat', 'a boat']);
		expect(JSON.stringify(run.hints('Step'))).not.toContain('the prompt or a setting');
		await execute(list, keyedTimes(3));
		expect(created()).toBe(3);
	});
});
