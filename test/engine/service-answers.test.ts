import type { IDataObject } from 'n8n-workflow';

import { sleepToEnd, wakeThrough } from './asleep';
import { items, keyed, openKeyedStage } from './keyed';
import { prompts } from './stage';

const { stage, created, execute, rows } = openKeyedStage();
const quiet = { downloadOutput: false };
const goOn = { onError: 'continueRegularOutput' as const };
const failure = (json: IDataObject) => [json.error_code, json.id, json.status];

describe('a generation that ends with a status outside of the specification', () => {
	it('ends a suspended wait at its next check', async () => {
		const id = await stage.made('a boat [seconds: 120] [end: expired]');
		const asleep = await stage.run('waitForCompletion', { mode: 'suspend' }, { items: [{ id }] });
		expect(asleep.status).toBe('waiting');
		stage.leap(120);
		const awake = await wakeThrough(stage, asleep);
		expect(awake.error).toMatchObject({ context: { code: 'generation_ended' } });
	});

	it('ends its item of a sleeping batch, and not the others', async () => {
		const list = items(
			['a', 'a boat [seconds: 300] [end: aborted]'],
			['b', 'a ship [seconds: 300]'],
			['c', 'a cat [seconds: 300]'],
		);
		const runOptions = { whileWaiting: 'suspend', maxConcurrent: 2 };
		const asleep = await execute(list, { ...keyed, runOptions }, goOn);
		expect(asleep.status).toBe('waiting');
		const end = await sleepToEnd(stage, asleep);
		const [first, ...others] = end.output('Step').map(({ json }) => json);
		expect(failure(first)).toEqual(['generation_ended', expect.any(String), 'aborted']);
		expect(others.map(({ status }) => status)).toEqual(['completed', 'completed']);
		expect(rows().map(({ status }) => status)).toEqual(['aborted', 'completed', 'completed']);
		expect(created()).toBe(3);
	});
});

describe('a completed generation without an output URL', () => {
	it.each([true, false])(
		'is an error with the reason of the service, download: %s',
		async (downloadOutput) => {
			const run = await stage.run(
				'imageGeneration',
				{ downloadOutput },
				{ items: prompts('a boat [no-url: The picture was removed]') },
			);
			expect(run.error).toMatchObject({ context: { code: 'output_missing' } });
			expect(run.error?.message).toContain('The picture was removed');
			expect(created()).toBe(1);
		},
	);
});

describe('several outputs of one generation', () => {
	it('are counted in a warning', async () => {
		const run = await stage.run('imageGeneration', quiet, {
			items: prompts('a boat [outputs: 3]'),
		});
		expect(run.hints('Step')).toMatchObject([
			{ type: 'warning', message: expect.stringContaining('2 more outputs were left out') },
		]);
	});
});
