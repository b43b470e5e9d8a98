import { ExecuteContext } from 'n8n-core';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import type { Run } from '../../tools/engine';
import { inARow } from '../../tools/engine/in-a-row';
import { ownNode, withOptions } from '../support/workflow';
import { helperOf, killWave, sleepToEnd, wake, wavesOf } from './asleep';
import { files, filesNodes } from './files-node';
import { items, openKeyedStage } from './keyed';
import { binaryOf, byId, sha256 } from './stage';

const { stage, created, execute, rows } = openKeyedStage({ extraNodes: filesNodes });

/** Returns the parameters of a step that suspends. */
function asleep(runOptions: IDataObject = {}, parameters: INodeParameters = {}): INodeParameters {
	return {
		options: { idempotencyKey: '={{ $json.key }}' },
		runOptions: { whileWaiting: 'suspend', maxConcurrent: 2, ...runOptions },
		...parameters,
	} as INodeParameters;
}

/** Returns input items whose generations take this many seconds unless their text says otherwise. */
function boats(count: number, seconds = 300) {
	return items(
		...Array.from({ length: count }, (_, index): [string, string] => [
			`k${index}`,
			`boat ${index} [seconds: ${seconds}]`,
		]),
	);
}

const statuses = (run: Run) => run.output('Step').map(({ json }) => json.status);

const kill = (run: Run, message?: string) => killWave(stage, run, message);

describe('a suspended batch', () => {
	it('returns the same output as a step that polls', async () => {
		const list = boats(5);
		const first = await execute(list, asleep());
		expect([first.status, first.error?.message]).toEqual(['waiting', undefined]);
		expect(created()).toBe(2);
		const end = await sleepToEnd(stage, first);
		expect([end.status, end.error?.message]).toEqual(['success', undefined]);
		expect(end.output('Step').map(({ json, pairedItem }) => [json.status, pairedItem])).toEqual(
			list.map((_, item) => ['completed', { item }]),
		);
		expect(rows().map(({ status }) => status)).toEqual(list.map(() => 'completed'));
		for (const item of end.output('Step')) {
			const bytes = await end.binary(binaryOf(item));
			expect(sha256(bytes)).toBe(sha256(await stage.served(String(item.json.id))));
		}
		expect(stage.sandbox.books.totals).toMatchObject({ created: 5, charged: 5 });
	});

	it('creates only the first item if the node executes once', async () => {
		const first = await execute(boats(3), asleep(), { executeOnce: true });
		expect(first.status).toBe('waiting');
		const end = await sleepToEnd(stage, first);
		expect(end.output('Step').map(({ json, pairedItem }) => [json.status, pairedItem])).toEqual([
			['completed', { item: 0 }],
		]);
		expect(created()).toBe(1);
	});

	it('is not suspended for generations that are ready immediately', async () => {
		const first = await sleepToEnd(stage, await execute(boats(2, 1), asleep()));
		const again = await execute(boats(2, 1), asleep());
		expect([again.status, statuses(again)]).toEqual(['success', statuses(first)]);
		expect(created()).toBe(2);
	});

	it('sends the reference files of items that a wave creates', async () => {
		const list = boats(3).map((item, index) => ({
			...item,
			files: { data: { name: 'a.png', mimeType: 'image/png', bytes: 10 + index } },
		}));
		const referenceInputs = { input: [{ source: 'binary', binaryPropertyName: 'data' }] };
		const parameters = asleep({ maxConcurrent: 1 }, { referenceInputs });
		const options = { size: '256x256' };
		const node = { model: byId('aurora-image-1'), prompt: '={{ $json.prompt }}', options };
		const step = ownNode('Step', 'imageGeneration', withOptions(node, parameters), { id: 'n' });
		const workflow = { ...inARow(files, step), id: 'the-workflow' };
		const end = await sleepToEnd(stage, await stage.runWorkflow(workflow, { items: list }));
		expect([end.status, end.error?.message]).toEqual(['success', undefined]);
		const sent = stage.bodies.map(({ inputs }) => (inputs as Array<{ value: string }>)[0].value);
		expect(sent).toEqual(
			[10, 11, 12].map(
				(bytes) => `data:image/png;base64,${Buffer.alloc(bytes, 7).toString('base64')}`,
			),
		);
	});

	it('also returns input fields, with any names', async () => {
		// An output that succeeds keeps no error of its input.
		const kept = boats(3).map((item) => ({ ...item, state: 'CA', order: 7 }));
		const list = kept.map((item) => ({ ...item, error: 'none' }));
		const options = { idempotencyKey: '={{ $json.key }}', includeOtherFields: true };
		const end = await sleepToEnd(stage, await execute(list, asleep({}, { options })));
		expect(end.output('Step').map(({ json }) => json)).toMatchObject(
			kept.map((item) => ({ ...item, generation: { status: 'completed' } })),
		);
	});

	it('passes no copy of the items from wave to wave', async () => {
		const list = boats(100).map((item) => ({ ...item, more: 'x'.repeat(2000) }));
		const first = await execute(list, asleep());
		const size = ({ record }: Run) => JSON.stringify(record.state.data).length;
		expect(size(wavesOf(stage, first))).toBeLessThan(8_000);
		const next = await wake(stage, await wake(stage, first));
		expect(size(wavesOf(stage, next))).toBeLessThan(16_000);
		expect(size(helperOf(stage, next))).toBeLessThan(8_000);
	});

	it('continues for more waves than one execution has', async () => {
		const list = boats(64, 200);
		const first = await execute(list, asleep({ maxConcurrent: 1 }, { downloadOutput: false }));
		const end = await sleepToEnd(stage, first);
		expect([end.status, end.error?.message]).toEqual(['success', undefined]);
		expect(statuses(end)).toEqual(list.map(() => 'completed'));
		expect(stage.sandbox.books.totals).toMatchObject({ created: 64, charged: 64 });
	});
});

describe('a suspended batch that fails', () => {
	const broken = items(
		['a', 'a boat [seconds: 300]'],
		['b', 'a ship [seconds: 100] [fail: out of paint]'],
		['c', 'a raft [seconds: 300]'],
	);

	it('ends as a polling step does when a generation fails, and names everything that is charged', async () => {
		const end = await sleepToEnd(stage, await execute(broken, asleep()));
		expect([end.status, end.error?.message]).toEqual([
			'error',
			expect.stringContaining('out of paint'),
		]);
		const { id } = rows().find(({ key }) => key === 'a') ?? {};
		expect(id).toBeDefined();
		const description = String((end.error as { description?: string }).description);
		expect(description).toContain(rows().find(({ key }) => key === 'a')?.generation_id);
		expect(created()).toBe(2);
	});

	it('returns failed items as data if On Error continues, each generated once', async () => {
		const settings = { onError: 'continueRegularOutput' };
		const end = await sleepToEnd(stage, await execute(broken, asleep(), settings));
		expect(statuses(end)).toEqual(['completed', 'failed', 'completed']);
		expect(end.output('Step')[1].json).toMatchObject({ error_code: 'generation_failed' });
		expect(created()).toBe(3);
	});

	it('does not send a rejected item again in each wave', async () => {
		const refused = { on: 'create', times: 'always', match: { promptIncludes: 'ship' } } as const;
		const action = { kind: 'error', code: 'unsupported_parameter' } as const;
		stage.sandbox.faults.order({ ...refused, action });
		const settings = { onError: 'continueRegularOutput' };
		const end = await sleepToEnd(stage, await execute(broken, asleep(), settings));
		expect(statuses(end)).toEqual(['completed', null, 'completed']);
		expect(stage.sandbox.requests.on('create')).toHaveLength(3);
	});

	it('generates failed items again, as often and with the models that the step allows', async () => {
		const runOptions = { retriesOnFailure: 1, fallbackModels: ['aurora-image-1'] };
		const settings = { onError: 'continueRegularOutput' };
		const options = { idempotencyKey: '={{ $json.key }}', size: '256x256' };
		const parameters = asleep(runOptions, { options });
		const end = await sleepToEnd(stage, await execute(broken, parameters, settings));
		expect(statuses(end)).toEqual(['completed', 'failed', 'completed']);
		expect(String(end.output('Step')[1].json.error)).toContain('3 generations of this item failed');
		const ships = stage.bodies.filter(({ prompt }) => String(prompt).includes('ship'));
		expect(ships.map(({ model }) => model)).toEqual([
			'lumen-turbo',
			'lumen-turbo',
			'aurora-image-1',
		]);
	});

	it('ends at the timeout of an item, counted from its start and not from each wave', async () => {
		const list = items(['a', 'a boat [seconds: 90000]'], ['b', 'a ship [seconds: 200]']);
		const parameters = asleep({ timeout: 900, onTimeout: 'continue' });
		const end = await sleepToEnd(stage, await execute(list, parameters));
		expect(end.output('Step').map(({ json }) => [json.status, json.timed_out])).toEqual([
			['processing', true],
			['completed', false],
		]);
	});
});

describe('a suspended batch that is interrupted', () => {
	const { getExecutionDataById: read } = ExecuteContext.prototype;
	afterEach(() => void (ExecuteContext.prototype.getExecutionDataById = read));

	it('continues with the next wave after a killed one, and pays nothing again', async () => {
		const first = await execute(boats(4), asleep());
		kill(first);
		const next = await stage.engine.resume(first);
		expect(next.status).toBe('waiting');
		const end = await sleepToEnd(stage, next);
		expect(statuses(end)).toEqual(boats(4).map(() => 'completed'));
		expect(stage.sandbox.books.totals).toMatchObject({ created: 4, charged: 4 });
	});

	it.each([
		['an error', {}, 'error'],
		['an item each', { onError: 'continueRegularOutput' }, 'success'],
	])('ends with %s when five waves in a row die', async (_, settings, status) => {
		let run = await execute(boats(3), asleep(), settings);
		for (let deaths = 0; deaths < 5; deaths++) {
			expect(run.status).toBe('waiting');
			kill(run, 'No memory');
			run = await stage.engine.resume(run);
		}
		expect(run.status).toBe(status);
		const text = run.error?.message ?? String(run.output('Step')[2]?.json.error);
		expect(text).toContain('items may have been charged: 5 helper executions in a row failed');
		expect(text).not.toContain('Nothing was charged');
		expect(run.output('Step')).toHaveLength(status === 'error' ? 0 : 3);
	});

	it('ends, and names every charged generation, after the user has stopped a wave', async () => {
		const first = await execute(boats(4), asleep());
		kill(first, 'This execution was cancelled manually');
		const { status, error } = await stage.engine.resume(first);
		expect(status).toBe('error');
		expect(error).toMatchObject({ context: { code: 'batch_interrupted' } });
		expect(error?.message).toContain('a helper execution was stopped');
		const ids = rows().map(({ generation_id: id }) => String(id));
		expect(ids).toHaveLength(2);
		for (const id of ids) expect(error).toHaveProperty('description', expect.stringContaining(id));
	});

	it('names every charged generation when it gives up, and keeps the errors of items', async () => {
		const dieOut = async (list: IDataObject[], settings: IDataObject) => {
			let run = await execute(list, asleep({ maxConcurrent: 3 }), settings);
			while (run.status === 'waiting') {
				kill(run);
				run = await stage.engine.resume(run);
			}
			return run;
		};
		const { error } = await dieOut(boats(2), {});
		expect(error).toMatchObject({ context: { code: 'batch_interrupted' } });
		const ids = rows().map(({ generation_id: id }) => String(id));
		expect(ids).toHaveLength(2);
		for (const id of ids) expect(error).toHaveProperty('description', expect.stringContaining(id));
		const refused = { key: 'k2', prompt: 'a raft [reject: invalid_parameter]' };
		const run = await dieOut([...boats(2), refused], { onError: 'continueRegularOutput' });
		expect(run.output('Step').map(({ json }) => [json.id, json.status, json.error_code])).toEqual([
			...ids.map((id) => [id, 'pending', 'batch_interrupted']),
			[null, null, 'invalid_parameter'],
		]);
	});

	it('sends nothing more once the user has stopped it', async () => {
		const first = await execute(boats(4), asleep());
		const { data } = first.record.state;
		data.resultData.error = new Error('The execution was cancelled manually') as never;
		stage.sandbox.requests.clear();
		stage.leap(600);
		// The execution itself has ended, but its helper does not know that yet.
		await stage.engine.resume(helperOf(stage, first));
		expect(stage.arrived).toBe(0);
	});

	it.each<[string, readSeconds: number, noticedAfter: number]>([
		['', 0, 10],
		[', even if n8n reads an execution slowly', 2, 30],
	])(
		'sends nothing more seconds after the user has stopped it during a wave%s',
		async (_, readSeconds, noticedAfter) => {
			ExecuteContext.prototype.getExecutionDataById = async function (id) {
				await stage.pass(readSeconds);
				return await read.call(this, id);
			};
			// The step sleeps for the first two; generations as short as the others keep a wave awake to their end.
			const first = await execute([...boats(2), ...boats(40, 30).slice(2)], asleep());
			expect(first.status).toBe('waiting');
			const waves = sleepToEnd(stage, first);
			while (created() < 6) await stage.pass(1);
			first.record.state.data.resultData.error = new Error('Stopped') as never;
			await stage.pass(noticedAfter);
			const sent = created();
			expect(sent).toBeLessThan(20);
			await waves;
			expect(created()).toBe(sent);
		},
	);
});

describe('a batch that is set to suspend', () => {
	it('sends nothing if an item has no key', async () => {
		const list = items(['a', 'a boat'], [null, 'a ship']);
		const run = await execute(list, asleep());
		expect(run.error).toMatchObject({ context: { itemIndex: 1, code: 'invalid_input' } });
		expect(stage.arrived).toBe(0);
	});

	it.each<[string, INodeParameters, IDataObject]>([
		['with an error output', {}, { onError: 'continueErrorOutput' }],
		['with several outputs per item', { numberOfOutputs: 2 }, {}],
	])('polls %s, and says why', async (_, parameters, settings) => {
		const run = await execute(boats(1, 3), asleep({}, parameters), settings);
		expect(run.status).toBe('success');
		const hints = run.hints('Step').map(({ message }) => message);
		expect(hints).toContainEqual(expect.stringContaining('Polled instead of suspending'));
	});

	it('needs none of this if it does not wait', async () => {
		const list = items([null, 'a boat']);
		const run = await execute(list, asleep({}, { options: {}, waitForCompletion: false }));
		expect(statuses(run)).toEqual(['pending']);
	});

	it('keeps the spending limit of all its waves, and names that limit', async () => {
		const limit = asleep({ maxNewGenerations: 3 });
		const settings = { onError: 'continueRegularOutput' };
		const end = await sleepToEnd(stage, await execute(boats(5), limit, settings));
		expect(created()).toBe(3);
		const errors = end.output('Step').flatMap(({ json }) => (json.error ? [json.error] : []));
		expect(errors).toHaveLength(2);
		for (const error of errors) expect(error).toContain('The limit of 3 new generations');
	});

	it('leaves out the items beyond the limit with On Error = Stop, and its results have the warning', async () => {
		const first = await execute(boats(5), asleep({ maxNewGenerations: 3 }));
		const end = await sleepToEnd(stage, first);
		expect([end.error, end.output('Step').length, created()]).toEqual([undefined, 3, 3]);
		const ids = Array.from({ length: 1_000 }, (_, count) => Number(first.executionId) + count);
		const results = ids
			.map((id) => stage.engine.execution(String(id)))
			.find((run) => run?.record.workflow.name?.endsWith(': results'));
		const hints = Object.values(results?.runData ?? {}).flatMap(([{ hints }]) => hints ?? []);
		expect(hints).toMatchObject([
			{ message: expect.stringContaining('2 were left out at no charge'), type: 'warning' },
		]);
	});

	it('keeps the failure of an item that the limit keeps from being created again', async () => {
		const parameters = asleep({ retriesOnFailure: 5, maxNewGenerations: 2 });
		const list = items(['a', 'a boat [seconds: 300] [fail: out of paint]']);
		const end = await sleepToEnd(stage, await execute(list, parameters));
		expect(end.error?.message).toBe('The generation failed: out of paint');
	});

	it('returns an item that does not wait while its generation runs', async () => {
		const list = items(['a', 'a boat [seconds: 300]'], ['b', 'a ship [seconds: 9000]']);
		const waitForCompletion = "={{ $json.key === 'a' }}";
		const first = await execute(list, asleep({}, { waitForCompletion }));
		const end = await sleepToEnd(stage, first);
		expect(statuses(end)).toEqual(['completed', 'processing']);
	});

	it('is suspended again if a wave finds nothing that has ended', async () => {
		const first = await execute(boats(2, 9000), asleep());
		const before = wavesOf(stage, first).waitTill?.getTime() ?? Infinity;
		const next = await wake(stage, first);
		expect(next.status).toBe('waiting');
		expect(wavesOf(stage, next).waitTill?.getTime()).toBeGreaterThan(before);
	});
});
