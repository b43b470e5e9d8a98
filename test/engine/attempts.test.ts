import type { INodeParameters } from 'n8n-workflow';

import { openStage, prompts } from './stage';

const stage = openStage();

const created = () => stage.sandbox.books.totals.created;
const withRuns = (runOptions: INodeParameters, more: INodeParameters = {}): INodeParameters => ({
	downloadOutput: false,
	...more,
	runOptions,
});
const failNext = (times: number) =>
	stage.sandbox.faults.order({ on: 'create', times, action: { kind: 'fail', reason: 'no paint' } });
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
});

describe('Fallback Models', () => {
	it.each<[string, INodeParameters[string]]>([
		['a list', [fallback]],
		['text with commas from an expression', '={{ $json.models }}'],
		['an array from an expression', '={{ $json.models.split(",") }}'],
	])('are tried when the model is not available: %s', async (_, fallbackModels) => {
		const action = { kind: 'error', code: 'model_not_found' } as const;
		stage.sandbox.faults.order({ on: 'create', action });
		const run = await stage.run('imageGeneration', withRuns({ fallbackModels }, anySize), {
			items: [{ prompt: 'a boat', models: `${fallback}, lumen-turbo` }],
		});
		expect(run.output('Step')).toMatchObject([{ json: { model: fallback } }]);
		expect(live('a boat')).toBe(1);
		expect(run.hints('Step')).toMatchObject([
			{ message: expect.stringContaining('1 output is from a fallback model'), type: 'warning' },
		]);
	});
});
