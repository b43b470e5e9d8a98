import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	IWorkflowBase,
} from 'n8n-workflow';

import {
	RECORD_COLUMNS,
	UnansweredError,
	type Change,
	type RecordFields,
	type RecordStore,
	type Where,
} from '../../../client/paying/record-store';
import { dataTable } from '../../../nodes/shared/record/data-table';
import { contextOf } from '../../support/context';

/** One call of n8n's Data Table node, by a small workflow. */
interface Call {
	code: IWorkflowBase;
	parameters: IDataObject;
	items: IDataObject[];
	/** Whether it is waited for. */
	awaited: boolean;
}

type Rows = Array<Pick<INodeExecutionData, 'json' | 'pairedItem'>>;

/** A saved workflow beside a table, which is asked by calls, and answers the usual unless told otherwise. */
function beside(answer: (call: Call) => Rows | undefined = () => undefined, cancel?: AbortSignal) {
	const calls: Call[] = [];
	const { context } = contextOf({ cancel });
	const executeWorkflow: IExecuteFunctions['executeWorkflow'] = async ({ code }, input, _, how) => {
		const call = {
			code: code as IWorkflowBase,
			parameters: code?.nodes[1].parameters as IDataObject,
			items: (input ?? []).map(({ json }) => json),
			awaited: how?.doNotWaitToFinish !== true,
		};
		calls.push(call);
		const rows = answer(call) ?? [{ json: { id: 'table', name: 'media_generations' } }];
		return { executionId: '2', data: [rows] };
	};
	Object.assign(context, {
		getWorkflow: () => ({ id: 'saved', active: true }),
		getExecutionId: () => '1',
		getMode: () => 'manual',
		executeWorkflow,
	});
	return { context, calls };
}

const conditionsOf = ({ parameters }: Call) =>
	(parameters.filters as { conditions: IDataObject[] }).conditions;

describe('the small workflows that keep the record', () => {
	it('are called by their own workflow whatever n8n allows by default, and are in no list afterwards', async () => {
		const { context, calls } = beside();
		await dataTable(context);
		expect(calls.length).toBeGreaterThan(0);
		for (const { code } of calls) {
			// `any` ends with n8n 3.
			expect(code.settings).toMatchObject({
				callerPolicy: 'workflowsFromSameOwner',
				saveDataSuccessExecution: 'none',
				saveDataErrorExecution: 'none',
			});
		}
	});

	it('have what they write as it stands where it is one row’s, for n8n is slow to evaluate', async () => {
		const { context, calls } = beside();
		const table = await dataTable(context);
		calls.length = 0;
		const where: Where = { match: 'all', conditions: [['id', 7]] };
		await table.change([{ where, set: { status: 'sent' } }]);
		expect(conditionsOf(calls[0])).toEqual([{ keyName: 'id', condition: 'eq', keyValue: 7 }]);
		expect(calls[0].parameters.columns).toMatchObject({ value: { status: 'sent' } });
	});

	it('evaluate nothing that comes from elsewhere, whatever it begins with', async () => {
		const { context, calls } = beside();
		const table = await dataTable(context);
		calls.length = 0;
		const where: Where = { match: 'any', conditions: [['key', '={{ 1 }}']] };
		await table.change([{ where, set: { status: '=1' } }]);
		expect(conditionsOf(calls[0])).toMatchObject([{ keyValue: '={{ $json.values[0] }}' }]);
		expect(calls[0].parameters.columns).toMatchObject({ value: '={{ $json.set }}' });
		expect(calls[0].items).toEqual([{ values: ['={{ 1 }}'], set: { status: '=1' } }]);
	});

	it('are run once, also where they fail: nothing is written twice', async () => {
		const { context, calls } = beside(({ parameters }) => {
			if (parameters.operation === 'insert') throw new Error('the database is gone');
			return undefined;
		});
		const table = await dataTable(context);
		calls.length = 0;
		await expect(table.insert([])).rejects.toThrow('the database is gone');
		expect(calls.map(({ awaited }) => awaited)).toEqual([true]);
	});

	it('fail where they give no output: that is not the same as no row', async () => {
		const { context, calls } = beside();
		const table = await dataTable(context);
		calls.length = 0;
		Object.assign(context, {
			executeWorkflow: async () => await Promise.resolve({ executionId: '2', data: [null] }),
		});
		await expect(table.read(['a'])).rejects.toThrow('returned no output');
	});
});

describe('after the workflow’s timeout, when n8n ends whatever is waited for', () => {
	const where: Where = { match: 'all', conditions: [['id', 1]] };

	async function timedOut() {
		const stop = new AbortController();
		const { context, calls } = beside(({ awaited }) => {
			if (stop.signal.aborted && awaited) throw new Error('The execution was cancelled');
			return undefined;
		}, stop.signal);
		const table = await dataTable(context);
		calls.length = 0;
		stop.abort();
		return { context, calls, table };
	}

	it('a write that must not be lost is started without waiting for it, and its result is unknown', async () => {
		const { table, calls } = await timedOut();
		const changed = table.change([{ where, set: {}, final: true }]);
		await expect(changed).rejects.toThrow(UnansweredError);
		const [first, second] = calls;
		expect(calls.map(({ awaited }) => awaited)).toEqual([true, false]);
		expect(second).toEqual({ ...first, awaited: false });
	});

	it('so is the removal of claims', async () => {
		const { table, calls } = await timedOut();
		await expect(table.remove([where])).rejects.toThrow(UnansweredError);
		expect(calls.map(({ awaited }) => awaited)).toEqual([true, false]);
	});

	it.each<[what: string, call: (table: RecordStore) => Promise<unknown>]>([
		['read', async (table) => await table.read(['a'])],
		['added', async (table) => await table.insert([])],
		['sent', async (table) => await table.change([{ where, set: {} }])],
	])('nothing is %s any more, and no answer is not the answer “no row”', async (_, call) => {
		const { table, calls } = await timedOut();
		await expect(call(table)).rejects.toThrow(UnansweredError);
		expect(calls.map(({ awaited }) => awaited)).toEqual([true]);
	});

	it('no table is made', async () => {
		const { context, calls } = await timedOut();
		await expect(dataTable(context)).rejects.toThrow();
		expect(calls.every(({ awaited }) => awaited)).toBe(true);
	});
});

describe('an empty cell', () => {
	it('is found whether it is NULL, as after a CSV import, or an empty text', async () => {
		const { context, calls } = beside();
		const table = await dataTable(context);
		calls.length = 0;
		const where: Where = {
			match: 'all',
			conditions: [
				['id', 7],
				['writer', ''],
			],
		};
		await table.change([{ where, set: { status: 'sent' } }]);
		expect(conditionsOf(calls[0])).toEqual([
			{ keyName: 'id', condition: 'eq', keyValue: 7 },
			{ keyName: 'writer', condition: 'isEmpty' },
		]);
	});

	it('is written as NULL: releases before 2.41 find no empty text', async () => {
		const { context, calls } = beside();
		const table = await dataTable(context);
		calls.length = 0;
		await table.insert([{ key: 'a', writer: '' } as RecordFields]);
		const where: Where = { match: 'all', conditions: [['id', 7]] };
		await table.change([{ where, set: { writer: '' } }]);
		expect(calls[0].items).toEqual([{ key: 'a', writer: null }]);
		expect(calls[1].items).toMatchObject([{ set: { writer: null } }]);
		expect(calls[1].parameters.columns).toMatchObject({ value: '={{ $json.set }}' });
	});
});

it.each([
	['numbers, as n8n makes them from a CSV file', { name: 'key', type: 'number' }, /: key\. Rename/],
	['no such column', null, /: key\. Rename/],
])('a table with %s is refused before anything is written to it', async (_, other, says) => {
	const columns = RECORD_COLUMNS.slice(1).map((name) => ({ name, type: 'string' }));
	if (other) columns.push(other as (typeof columns)[number]);
	const { context, calls } = beside(() => [
		{ json: { id: 'table', name: 'media_generations', columns } },
	]);
	await expect(dataTable(context)).rejects.toMatchObject({
		code: 'record_unavailable',
		description: expect.stringMatching(says) as string,
	});
	expect(calls.every(({ parameters }) => parameters.operation === 'list')).toBe(true);
});

describe('the table', () => {
	const media = (id: string, name: string) => ({ json: { id, name } });

	it('is the one of that very name: n8n finds by a part of it', async () => {
		const { context, calls } = beside(({ parameters }) =>
			parameters.operation === 'list'
				? [media('1', 'media_generations_2025'), media('2', 'media_generations')]
				: [],
		);
		await (await dataTable(context)).read(['a']);
		expect(calls.at(-1)?.parameters.dataTableId).toMatchObject({ value: '2' });
		// It may be beyond the first fifty.
		expect(calls[0].parameters).toMatchObject({ operation: 'list', returnAll: true });
	});

	it('reads hundreds of keys whole, in statements that a database bears', async () => {
		const keys = Array.from({ length: 450 }, (_, index) => `key ${index}`);
		const { context, calls } = beside((call) =>
			call.parameters.operation === 'get'
				? conditionsOf(call).map(({ keyValue }) => ({ json: { key: keyValue as string } }))
				: undefined,
		);
		const table = await dataTable(context);
		calls.length = 0;
		expect((await table.read(keys)).map(({ key }) => key)).toEqual(keys);
		expect(calls.map((call) => conditionsOf(call).length)).toEqual([200, 200, 50]);
		// n8n gives fifty rows unless it is asked for all.
		expect(calls.every(({ parameters }) => parameters.returnAll === true)).toBe(true);
	});

	it('tells when a row was changed, as far as it can be read', async () => {
		const createdAt = '2026-01-01T00:00:00.000Z';
		const { context } = beside(({ parameters }) =>
			parameters.operation === 'get'
				? [{ json: { id: 1, createdAt, updatedAt: createdAt } }, { json: { id: 2, createdAt } }]
				: undefined,
		);
		expect(await (await dataTable(context)).read(['a'])).toMatchObject([
			{ id: 1, changedAt: Date.parse(createdAt) },
			{ id: 2, changedAt: null },
		]);
	});

	it('looks for what begins so by a pattern', async () => {
		const { context, calls } = beside();
		const where: Where = { match: 'all', conditions: [['writer', 'u/', 'begins with']] };
		await (await dataTable(context)).remove([where]);
		const call = calls.at(-1) as Call;
		expect(conditionsOf(call)).toMatchObject([{ keyName: 'writer', condition: 'like' }]);
		expect(call.items).toMatchObject([{ values: ['u/%'] }]);
	});

	it('tells of each change which rows it has hit, whatever others were carried out with it', async () => {
		const one = (id: number): Change => ({
			where: {
				match: 'all',
				conditions: [
					['id', id],
					['status', 'claimed'],
				],
			},
			set: { status: 'sent' },
		});
		const any = (...ids: string[]): Change => ({
			where: { match: 'any', conditions: ids.map((id) => ['generation_id', id]) },
			set: { status: 'completed' },
		});
		const row = (id: number, pairedItem: INodeExecutionData['pairedItem']) => ({
			json: { id },
			pairedItem,
		});
		const { context, calls } = beside((call) => {
			if (call.parameters.operation !== 'update') return undefined;
			const values = call.items.map((item) => JSON.stringify(item.values));
			if (values.length > 1) return [row(3, { item: 2 }), row(2, [{ item: 1 }])];
			return values[0] === '["g1","g2"]' ? [row(7, 0), row(8, 0)] : [row(9, { item: 0 })];
		});
		const table = await dataTable(context);
		calls.length = 0;
		const changes = [one(1), any('g1', 'g2'), one(2), any('g3'), one(3)];
		expect(await table.change(changes)).toEqual([[], [7, 8], [2], [9], [3]]);
		expect(calls.map(({ items }) => items.map(({ set }) => (set as IDataObject).status))).toEqual([
			['sent', 'sent', 'sent'],
			['completed'],
			['completed'],
		]);
	});
});
