import type { IDataObject } from 'n8n-workflow';

import { wallClock } from '../../nodes/shared/http/clock';
import { sleepToEnd, wakeThrough } from './asleep';
import { items, keyed, openKeyedStage } from './keyed';
import { byId, prompts } from './stage';

const { stage, created, execute, rows } = openKeyedStage();
const quiet = { downloadOutput: false };
const goOn = { onError: 'continueRegularOutput' as const };
const failure = (json: IDataObject) => [json.error_code, json.id, json.status];

describe('a generation that ends with a status outside of the specification', () => {
	it('ends the step with its id, claims no refund, and is not created again by Retry On Fail', async () => {
		const run = await stage.run(
			'imageGeneration',
			{ ...quiet, runOptions: { retriesOnFailure: 3 } },
			{
				items: prompts('a boat [end: Timed Out]'),
				settings: { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 },
			},
		);
		const [{ id }] = stage.sandbox.books.generations;
		expect(run.error).toMatchObject({
			message: 'The generation ended with the status "Timed Out"',
			description: expect.stringContaining(`Charged: ${id} (Timed Out)`) as string,
			context: { code: 'generation_ended' },
		});
		expect(run.error?.description).toContain('not known whether the credits were refunded');
		expect(created()).toBe(1);
	});

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

describe('content that is refused', () => {
	it('is created once with each model', async () => {
		const runOptions = { retriesOnFailure: 5, fallbackModels: ['aurora-image-1-mini'] };
		const run = await stage.run(
			'imageGeneration',
			{ ...quiet, runOptions, options: { size: '' } },
			{ items: prompts('a boat [refuse: content_policy_violation]') },
		);
		expect(run.error).toMatchObject({ context: { code: 'content_refused' } });
		expect(stage.sandbox.books.generations.map(({ model }) => model)).toEqual([
			'lumen-turbo',
			'aurora-image-1-mini',
		]);
	});
});

describe('Retry-After', () => {
	it('holds the creating requests of a step back', async () => {
		const action = { kind: 'error', code: 'service_unavailable', retryAfter: 60 } as const;
		stage.sandbox.faults.order({ on: 'create', times: 5, action });
		const run = await stage.run(
			'imageGeneration',
			{ ...quiet, runOptions: { maxConcurrent: 5 } },
			{ items: prompts(...Array.from({ length: 12 }, (_, index) => `boat ${index}`)) },
		);
		expect([run.status, created()]).toEqual(['success', 12]);
		const times = stage.sandbox.requests.on('create').map(({ at }) => at);
		expect(times).toHaveLength(12 + 5);
		expect(times[5] - times[0]).toBeGreaterThanOrEqual(60_000);
	});

	it('of the storage holds its downloads back', async () => {
		const at = new Date(wallClock.now() + 60_000).toUTCString();
		const action = { kind: 'respond', status: 503, headers: { 'retry-after': at } } as const;
		stage.sandbox.faults.order({ on: 'download', action });
		const run = await stage.run('imageGeneration', {}, { items: prompts('a boat') });
		expect(run.error).toBeUndefined();
		expect(run.status).toBe('success');
		const [first, second] = stage.sandbox.requests.on('download').map((each) => each.at);
		expect(second - first).toBeGreaterThan(40_000);
	});
});

describe('several outputs of one generation', () => {
	it('are refused as the field n before anything is sent', async () => {
		const options = { additionalFields: '{"n": 3}' };
		const run = await stage.run(
			'imageGeneration',
			{ model: byId('aurora-image-1'), options },
			{ items: prompts('a boat') },
		);
		expect(run.error).toMatchObject({ context: { code: 'invalid_input' } });
		expect(run.error?.description).toContain('Number of Images');
		expect(stage.arrived).toBe(0);
	});

	it('are counted in a warning', async () => {
		const run = await stage.run('imageGeneration', quiet, {
			items: prompts('a boat [outputs: 3]'),
		});
		expect(run.hints('Step')).toMatchObject([
			{ type: 'warning', message: expect.stringContaining('2 more outputs of 1 generation') },
		]);
	});
});
