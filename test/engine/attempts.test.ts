import type { INodeParameters } from 'n8n-workflow';

import { items, keyed, openKeyedStage, workflowWith } from './keyed';
import { prompts } from './stage';
import { withOptions } from '../support/workflow';

const { stage, rows, created, execute } = openKeyedStage();

const quiet = { downloadOutput: false };
const withRuns = (runOptions: INodeParameters, more: INodeParameters = {}): INodeParameters => ({
	...quiet,
	...more,
	runOptions,
});
const failNext = (times = 1) =>
	stage.sandbox.faults.order({ on: 'create', times, action: { kind: 'fail', reason: 'no paint' } });
const refuseNext = (code: 'model_unavailable' | 'model_not_found', times = 1) =>
	stage.sandbox.faults.order({ on: 'create', times, action: { kind: 'error', code } });
const live = (prompt: string) => stage.sandbox.books.liveChargesFor(prompt);
const fallback = 'aurora-image-1-mini';
const anySize = { options: { size: '' } };

describe('Retries of Failed Generations', () => {
	it('generate a failed output again within the step, and a hint says so', async () => {
		failNext(2);
		const run = await stage.run('imageGeneration', withRuns({ retriesOnFailure: 2 }), {
			items: prompts('a boat'),
		});
		expect(run.status).toBe('success');
		expect([created(), live('a boat')]).toEqual([3, 1]);
		expect(run.hints('Step')).toMatchObject([
			{ message: expect.stringContaining('2 failed generations were refunded and created again') },
		]);
	});

	it('end with the last failure, which says how many there were', async () => {
		failNext(9);
		const run = await stage.run('imageGeneration', withRuns({ retriesOnFailure: 1 }), {
			items: prompts('a boat'),
		});
		expect(run.error).toMatchObject({
			message: 'The generation failed: no paint',
			description: expect.stringContaining(
				'2 generations of this item failed and were refunded',
			) as string,
			context: { code: 'generation_failed' },
		});
		expect([created(), live('a boat')]).toEqual([2, 0]);
	});

	it('that a spending limit prevents leave the original failure as the error of the item', async () => {
		failNext(9);
		const parameters = withRuns({ retriesOnFailure: 5, maxNewGenerations: 3, maxConcurrent: 1 });
		const run = await stage.run('imageGeneration', parameters, {
			items: prompts('a boat', 'a ship'),
			settings: { onError: 'continueRegularOutput' },
		});
		const [failed, skipped] = run.output('Step').map(({ json }) => json);
		expect(failed).toMatchObject({ error_code: 'generation_failed', status: 'failed' });
		expect(failed.error).toMatch(/^The generation failed: no paint\. The credits were refunded\. /);
		expect(failed.error).toContain('3 generations of this item failed');
		expect(failed.error).toContain('not created again: The limit of 3 new generations is reached');
		expect(skipped).toMatchObject({ error_code: 'generation_limit_reached', id: null });
		expect(created()).toBe(3);
	});

	it.each([-1, 6, 0.5])('of %d are an error of the item', async (wrong) => {
		const parameters = withRuns({ retriesOnFailure: '={{ $json.n }}' });
		const run = await stage.run('imageGeneration', parameters, {
			items: [{ prompt: 'a boat', n: wrong }],
		});
		expect(run.error).toMatchObject({ context: { code: 'invalid_input' } });
		expect(stage.arrived).toBe(0);
	});

	it('keep a row for every failure and for the success of a key', async () => {
		failNext();
		await execute(items(['a', 'a boat']), { ...keyed, ...withRuns({ retriesOnFailure: 1 }) });
		expect(rows().map(({ key, status }) => [key, status])).toEqual([
			['a', 'failed'],
			['a', 'completed'],
		]);
	});
});

describe('Fallback Models', () => {
	it.each<[string, INodeParameters[string]]>([
		['a list', [fallback]],
		['text with commas from an expression', '={{ $json.models }}'],
		['an array from an expression', '={{ $json.models.split(",") }}'],
	])('are tried when the model is not available: %s', async (_, fallbackModels) => {
		refuseNext('model_not_found');
		const run = await stage.run('imageGeneration', withRuns({ fallbackModels }, anySize), {
			items: [{ prompt: 'a boat', models: `${fallback}, lumen-turbo` }],
		});
		expect(run.output('Step')).toMatchObject([{ json: { model: fallback } }]);
		expect(live('a boat')).toBe(1);
		expect(run.hints('Step')).toMatchObject([
			{ message: expect.stringContaining('1 output is from a fallback model'), type: 'warning' },
		]);
	});

	it('keep one order: a later execution with the key reuses it, without a hint of a change', async () => {
		refuseNext('model_unavailable', 7);
		const parameters = withOptions(keyed, withRuns({ fallbackModels: [fallback] }, anySize));
		const list = items(['a', 'a boat']);
		const first = await execute(list, parameters);
		expect(rows()).toMatchObject([{ key: 'a', model: fallback, status: 'completed' }]);
		const again = await execute(list, parameters);
		expect(again.output('Step')[0].json.id).toBe(first.output('Step')[0].json.id);
		expect(JSON.stringify(again.hints('Step'))).not.toContain('the prompt or a setting');
		expect(created()).toBe(1);
	});

	it('are not tried while the charge of the first request is uncertain', async () => {
		stage.sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });
		const run = await stage.run('imageGeneration', withRuns({ fallbackModels: [fallback] }), {
			items: prompts('a boat'),
		});
		expect(run.error).toMatchObject({ context: { code: 'uncertain_charge' } });
		expect(stage.sandbox.requests.on('create')).toHaveLength(1);
	});

	it('are reused by a retry of the execution', async () => {
		const match = { promptIncludes: 'boat' };
		const action = { kind: 'error', code: 'model_not_found' } as const;
		stage.sandbox.faults.order({ on: 'create', match, action });
		const workflow = workflowWith(withRuns({ fallbackModels: [fallback] }, anySize));
		const ship = 'a ship [reject: invalid_parameter 1]';
		const failed = await stage.runWorkflow(workflow, { items: prompts('a boat', ship) });
		const run = await stage.engine.retry(failed);
		expect(run.status).toBe('success');
		expect([live('a boat'), live(ship)]).toEqual([1, 1]);
	});
});
