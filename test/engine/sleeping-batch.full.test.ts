import { ExecuteContext } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';

import type { Run } from '../../tools/engine';
import { helperOf, killWave, nextOf, sleepToEnd, wake, wavesOf } from './asleep';
import { asleep, boats, continues, items, openKeyedStage } from './keyed';

const { stage, tables, created, execute, rows } = openKeyedStage();

describe('a suspended batch', () => {
	it('passes no copy of the items from wave to wave', async () => {
		const list = boats(100).map((item) => ({ ...item, more: 'x'.repeat(2000) }));
		const first = await execute(list, asleep());
		const size = ({ record }: Run) => JSON.stringify(record.state.data).length;
		expect(size(wavesOf(stage, first))).toBeLessThan(8_000);
		const next = await wake(stage, await wake(stage, first));
		expect(size(wavesOf(stage, next))).toBeLessThan(16_000);
		expect(size(helperOf(stage, next))).toBeLessThan(8_000);
	});

	it('pays once for a key with a random part, which differs each time it is evaluated', async () => {
		const options = { idempotencyKey: '={{ $json.key }}-{{ Math.random() }}' };
		const end = await sleepToEnd(stage, await execute(boats(2), { ...asleep(), options }));
		expect([end.status, created()]).toEqual(['success', 2]);
		expect(end.output('Step').map(({ json }) => json.id)).toEqual(
			rows().map(({ generation_id: id }) => id),
		);
	});

	it('that cannot go on without its table ends with an error that names the IDs', async () => {
		const first = await execute(boats(2), asleep());
		const ids = rows().map(({ generation_id: id }) => String(id));
		tables.refusal = 'Attempted to use Data table node but the module is disabled';
		const { error } = await sleepToEnd(stage, first);
		const said = JSON.stringify([error?.message, (error as { description?: string }).description]);
		expect(ids).toHaveLength(2);
		for (const id of ids) expect(said).toContain(id);
	});
});

describe('a suspended batch that is interrupted', () => {
	const { getExecutionDataById: read } = ExecuteContext.prototype;
	afterEach(() => void (ExecuteContext.prototype.getExecutionDataById = read));

	it('names every charged generation when it gives up, and keeps the errors of items', async () => {
		const dieOut = async (list: IDataObject[], settings: IDataObject) => {
			let run = await execute(list, asleep({ maxConcurrent: 3 }), settings);
			while (run.status === 'waiting') {
				killWave(stage, run);
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
		const run = await dieOut([...boats(2), refused], continues);
		expect(run.output('Step').map(({ json }) => [json.id, json.status, json.error_code])).toEqual([
			...ids.map((id) => [id, 'pending', 'batch_interrupted']),
			[null, null, 'invalid_parameter'],
		]);
	});

	it.each([
		['', 0],
		[', even if n8n reads an execution slowly', 2],
	])('sends nothing more after the user has stopped it during a wave%s', async (_, readSeconds) => {
		ExecuteContext.prototype.getExecutionDataById = async function (id) {
			await stage.pass(readSeconds);
			return await read.call(this, id);
		};
		let next = await execute(boats(8, 95), asleep());
		while (created() < 4) next = await wake(stage, next);
		expect([next.status, created()]).toEqual(['waiting', 4]);
		// Generations that take longer than the learned duration keep this wave awake until their end.
		const wave = wake(stage, next);
		await stage.pass(5);
		next.record.state.data.resultData.error = new Error('Stopped') as never;
		await wave;
		expect(created()).toBe(4);
	});
});

describe('a batch that is set to suspend', () => {
	it('needs none of this if it does not wait', async () => {
		const list = items([null, 'a boat']);
		const parameters = { ...asleep(), options: {}, waitForCompletion: false };
		const run = await execute(list, parameters);
		expect(run.output('Step').map(({ json }) => json.status)).toEqual(['pending']);
	});

	it('returns no items beyond the limit with On Error = Stop, and its results have the warning', async () => {
		const first = await execute(boats(5), asleep({ maxNewGenerations: 3 }));
		const end = await sleepToEnd(stage, first);
		expect([end.error, end.output('Step').length, created()]).toEqual([undefined, 3, 3]);
		const ids = Array.from({ length: 1_000 }, (_, count) => Number(first.executionId) + count);
		const results = ids
			.map((id) => stage.engine.execution(String(id)))
			.find((run) => run?.record.workflow.name?.endsWith(': results'));
		const hints = Object.values(results?.runData ?? {}).flatMap(([{ hints }]) => hints ?? []);
		expect(hints).toMatchObject([
			{ message: expect.stringContaining('2 were not sent at no charge'), type: 'warning' },
		]);
	});
});

it('a request that is to be sent again waits for a slot, and does not end as uncertain by a sleep', async () => {
	stage.sandbox.service.occupy('main', 8);
	const match = { promptIncludes: 'boat 1' };
	stage.sandbox.faults.order({ on: 'create', match, action: { kind: 'loseAnswer' } });
	const parameters = asleep({ maxConcurrent: 3, onUncertainCharge: 'resubmit' });
	const end = await sleepToEnd(stage, await execute(boats(2), parameters));
	expect([end.error?.message, end.output('Step').length, created()]).toEqual([undefined, 2, 3]);
});

describe('a table that fails after the requests of a wave', () => {
	beforeEach(() => {
		tables.before = (operation) => {
			if (['insert', 'rowNotExists'].includes(operation) && created() > 0)
				throw new Error('the table takes no changes');
		};
	});

	it('loses no generation: the next wave collects it, and writes its ID', async () => {
		const first = await execute(boats(2), asleep());
		expect([first.status, created()]).toEqual(['waiting', 2]);
		expect(rows().map(({ generation_id: id }) => id || '')).toEqual(['', '']);
		tables.before = () => undefined;
		const end = await sleepToEnd(stage, first);
		expect([end.status, created()]).toEqual(['success', 2]);
		expect(end.output('Step').map(({ json: { id, status } }) => [id, status])).toEqual(
			rows().map(({ generation_id: id, status }) => [id, status]),
		);
	});

	it('has the IDs in n8n’s log if the batch is stopped while it sleeps', async () => {
		const first = await execute(boats(2), asleep());
		first.record.state.data.resultData.error = new Error('Stopped') as never;
		stage.leap(600);
		const stopped = await stage.engine.resume(nextOf(stage, first));
		for (const { id } of stage.sandbox.books.generations) {
			expect(stopped.logs.some(({ message }) => message.includes(id))).toBe(true);
		}
	});
});
