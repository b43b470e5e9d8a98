import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	IWorkflowBase,
} from 'n8n-workflow';

import { TABLE_COLUMNS, type RowFields } from '../../../client/jobs/row';
import {
	madeFrom,
	UnansweredError,
	type TableCall,
	type Where,
} from '../../../client/orders/table';
import { dataTable } from '../../../nodes/shared/record/data-table';
import { wallClock } from '../../../nodes/shared/http/clock';
import { contextOf } from '../../support/context';

/** One helper workflow. */
interface Call {
	code: IWorkflowBase;
	/** The operations of its Data Table nodes, from top to bottom. */
	operations: IDataObject[];
	items: IDataObject[];
	/** Whether it is waited for. */
	awaited: boolean;
}

type Rows = Array<Pick<INodeExecutionData, 'json' | 'pairedItem'>>;

let workflows = 0;

/** A saved workflow with a table. The table receives calls, and by default responds as usual. */
function beside(answer: (call: Call) => Rows | undefined = () => undefined, cancel?: AbortSignal) {
	const calls: Call[] = [];
	const { step } = contextOf({ cancel });
	const id = `saved ${++workflows}`;
	const executeWorkflow: IExecuteFunctions['executeWorkflow'] = async ({ code }, input, _, how) => {
		const call = {
			code: code as IWorkflowBase,
			operations: (code?.nodes.slice(1) ?? []).map(({ parameters }) => parameters),
			items: (input ?? []).map(({ json }) => json),
			awaited: how?.doNotWaitToFinish !== true,
		};
		calls.push(call);
		const rows = answer(call) ?? [{ json: { id: 'table', name: 'media_generations' } }];
		return { executionId: '2', data: [rows] };
	};
	Object.assign(step.n8n, {
		getWorkflow: () => ({ id, active: true }),
		getExecutionId: () => '1',
		getMode: () => 'manual',
		executeWorkflow,
	});
	return { step, calls };
}

/** Opens a table. `calls` contains only the calls made after that. */
async function opened(...given: Parameters<typeof beside>) {
	const { step, calls } = beside(...given);
	const table = await dataTable(step);
	calls.length = 0;
	const call = async (part: Partial<TableCall>) =>
		await table({ changes: [], inserts: [], made: [], keys: [], ...part });
	return { step, calls, call };
}

const operationsOf = ({ operations }: Call) => operations.map(({ operation }) => operation);
const conditionsOf = ({ filters }: IDataObject) =>
	(filters as { conditions: IDataObject[] }).conditions;
const row = (key: string) => ({ key, workflow_id: 'w', node_id: 'n', writer: '' }) as RowFields;

/** Returns what n8n makes of a text: the text itself, or the result of its expression. */
function evaluated(value: unknown): unknown {
	const expression = /^=\{\{ (.*) \}\}$/s.exec(String(value))?.[1];
	return expression === undefined ? value : (JSON.parse(expression) as unknown);
}

describe('a helper workflow', () => {
	it('is called by its own workflow for any default of n8n, and is in no list afterwards', async () => {
		const { step, calls } = beside();
		await dataTable(step);
		expect(calls.length).toBeGreaterThan(0);
		for (const { code } of calls) {
			// `any` ends with n8n 3.
			expect(code.settings).toMatchObject({
				callerPolicy: 'workflowsFromSameOwner',
				saveDataSuccessExecution: 'none',
				saveDataErrorExecution: 'none',
				executionOrder: 'v1',
			});
		}
	});

	it('changes, inserts and reads in this order, in branches of which the last one returns the output', async () => {
		const { calls, call } = await opened();
		const where: Where = { match: 'all', conditions: [['id', 7]] };
		await call({
			changes: [
				{ where, set: { status: 'sent' } },
				{ where, set: null },
			],
			inserts: [row('a'), row('b')],
			keys: ['a', 'b'],
			isRepeated: true,
		});
		expect(calls.map(operationsOf)).toEqual([
			['update', 'deleteRows', 'rowNotExists', 'insert', 'get'],
		]);
		const [{ code, items }] = calls;
		const [trigger, ...nodes] = code.nodes;
		expect(items.map(({ key }) => key)).toEqual(['a', 'b']);
		// n8n runs the branches from top to bottom. Only the insertion runs for each item.
		const heights = nodes.map(({ position }) => position[1]);
		expect(heights).toEqual([...heights].sort((a, b) => a - b));
		expect(nodes.map(({ executeOnce }) => executeOnce)).toEqual([true, true, false, false, true]);
		const branches = code.connections[trigger.name].main[0] ?? [];
		// The insertion comes after the check that its row does not exist.
		const first = nodes.filter((_, index) => index !== 3);
		expect(branches.map(({ node }) => node)).toEqual(first.map(({ name }) => name));
	});

	it('replaces the rows of claims by those of their generations: two operations, none of which looks for rows first', async () => {
		const { calls, call } = await opened();
		const made = ['a', 'b'].map((key) =>
			madeFrom({ ...row(key), writer: key }, `id-${key}`, 'pending'),
		);
		await call({ inserts: [row('c')], made, keys: ['c'] });
		expect(calls.map(operationsOf)).toEqual([['insert', 'deleteRows', 'get']]);
		const [{ items, operations }] = calls;
		expect(items.map(({ generation_id: id }) => id)).toEqual([null, 'id-a', 'id-b']);
		expect(conditionsOf(operations[1])).toEqual(
			['a', 'b'].map((keyValue) => ({ keyName: 'writer', condition: 'eq', keyValue })),
		);
	});

	it.each(['={{ 1 }}', "=a }} b {{ '\\u0022", '=\u{1F6A2}"'])(
		'evaluates no text from other sources: %s',
		async (text) => {
			const { calls, call } = await opened();
			const where: Where = { match: 'any', conditions: [['key', text]] };
			await call({ changes: [{ where, set: { status: text } }] });
			const [update] = calls[0].operations;
			const { value } = update.columns as { value: IDataObject };
			const [{ keyValue }] = conditionsOf(update);
			expect([evaluated(keyValue), evaluated(value.status)]).toEqual([text, text]);
			expect(String(keyValue)).toMatch(/^=\{\{ "[\\u0-9a-f]*" \}\}$/);
		},
	);

	it('runs once, also if it fails: nothing is written twice', async () => {
		const { calls, call } = await opened((one) => {
			if (operationsOf(one).includes('insert')) throw new Error('the database is gone');
			return undefined;
		});
		await expect(call({ inserts: [row('a')] })).rejects.toThrow('the database is gone');
		expect(calls.map(({ awaited }) => awaited)).toEqual([true]);
	});

	it('without an output is an error: that is not the same as no row', async () => {
		const { step, call } = await opened();
		Object.assign(step.n8n, {
			executeWorkflow: async () => await Promise.resolve({ executionId: '2', data: [null] }),
		});
		await expect(call({ keys: ['a'] })).rejects.toThrow('returned no output');
	});
});

it('a read of hundreds of keys that fails halfway goes on there', async () => {
	const sleep = jest.spyOn(wallClock, 'sleep').mockResolvedValue();
	const keys = Array.from({ length: 450 }, (_, index) => `key ${index}`);
	let reads = 0;
	const { calls, call } = await opened(({ operations: [get] }) => {
		if (get.operation !== 'get') return undefined;
		if (++reads === 2) throw new Error('SQLITE_BUSY');
		return conditionsOf(get).map(({ keyValue }) => ({ json: { key: keyValue as string } }));
	});
	expect((await call({ keys })).map(({ key }) => key)).toEqual(keys);
	const sizes = calls.map(({ operations: [get] }) => conditionsOf(get).length);
	expect(sizes).toEqual([200, 200, 200, 50]);
	sleep.mockRestore();
});

describe('after the workflow’s timeout, when n8n ends all waits', () => {
	const where: Where = { match: 'all', conditions: [['id', 1]] };

	async function timedOut() {
		const stop = new AbortController();
		const table = await opened(({ awaited }) => {
			if (stop.signal.aborted && awaited) throw new Error('The execution was cancelled');
			return undefined;
		}, stop.signal);
		stop.abort();
		return table;
	}

	it('what must not be lost is started without waiting for it, and its result is unknown', async () => {
		const { call, calls } = await timedOut();
		const changes = [
			{ where, set: { status: 'sent' } },
			{ where, set: { status: 'completed' }, final: true },
		];
		const made = [madeFrom({ ...row('b'), writer: 'w' }, 'id-b', 'pending')];
		const called = call({ changes, inserts: [row('a')], made, keys: ['a'] });
		await expect(called).rejects.toThrow(UnansweredError);
		expect(calls.map(({ awaited }) => awaited)).toEqual([true, false]);
		expect(operationsOf(calls[1])).toEqual(['update', 'update']);
		const written = calls[1].operations.map(({ columns }) => columns as IDataObject);
		expect(written).toMatchObject([
			{ value: { status: 'completed' } },
			{ value: { generation_id: 'id-b' } },
		]);
	});

	it.each<[what: string, part: Partial<TableCall>]>([
		['read', { keys: ['a'] }],
		['inserted', { inserts: [row('a')] }],
		['reserved', { changes: [{ where, set: {} }] }],
	])('nothing is %s any more, and no answer does not mean “no row”', async (_, part) => {
		const { call, calls } = await timedOut();
		await expect(call(part)).rejects.toThrow(UnansweredError);
		expect(calls.map(({ awaited }) => awaited)).toEqual([true]);
	});
});

describe('an empty cell', () => {
	it('is found whether it is NULL, as after a CSV import, or an empty text', async () => {
		const { calls, call } = await opened();
		const where: Where = {
			match: 'all',
			conditions: [
				['id', 7],
				['writer', ''],
			],
		};
		await call({ changes: [{ where, set: { status: 'sent' } }] });
		expect(conditionsOf(calls[0].operations[0])).toEqual([
			{ keyName: 'id', condition: 'eq', keyValue: 7 },
			{ keyName: 'writer', condition: 'isEmpty' },
		]);
	});

	it('is written as NULL: releases before 2.41 find no empty text', async () => {
		const { calls, call } = await opened();
		const where: Where = { match: 'all', conditions: [['id', 7]] };
		await call({ inserts: [row('a')], changes: [{ where, set: { writer: '' } }] });
		expect(calls[0].items).toMatchObject([{ key: 'a', writer: null }]);
		const { value } = calls[0].operations[0].columns as { value: IDataObject };
		expect(evaluated(value.writer)).toBeNull();
	});
});

it.each([
	[
		'numbers, as n8n makes them from a CSV file',
		{ name: 'key', type: 'number' },
		/: key\. Replace it at no charge, while nothing uses it: 1\. Export the table as CSV/,
	],
	['no such column', null, /: key\. Replace it at no charge/],
])('a table with %s is refused before anything is written to it', async (_, other, says) => {
	const columns = TABLE_COLUMNS.filter((name) => name !== 'key').map((name) => ({
		name,
		type: 'string',
	}));
	if (other) columns.push(other as (typeof columns)[number]);
	const { step, calls } = beside(() => [
		{ json: { id: 'table', name: 'media_generations', columns } },
	]);
	await expect(dataTable(step)).rejects.toMatchObject({
		code: 'record_unavailable',
		details: expect.stringMatching(says) as string,
	});
	expect(calls.flatMap(operationsOf)).toEqual(['list']);
});

describe('the table', () => {
	const media = (id: string, name: string) => ({ json: { id, name } });

	it('is the one with exactly that name, although n8n searches by substring', async () => {
		const { step, calls } = beside(({ operations: [{ operation }] }) =>
			operation === 'list'
				? [media('1', 'media_generations_2025'), media('2', 'media_generations')]
				: [],
		);
		const table = await dataTable(step);
		await table({ changes: [], inserts: [], made: [], keys: ['a'] });
		expect(calls[1].operations[0].dataTableId).toMatchObject({ value: '2' });
		// It may be beyond the first fifty.
		expect(calls[0].operations[0]).toMatchObject({ operation: 'list', returnAll: true });
	});

	it('tells when a row was changed, as far as it can be read', async () => {
		const createdAt = '2026-01-01T00:00:00.000Z';
		const { call } = await opened(({ operations: [{ operation }] }) =>
			operation === 'get'
				? [{ json: { id: 1, createdAt, updatedAt: createdAt } }, { json: { id: 2, createdAt } }]
				: undefined,
		);
		expect(await call({ keys: ['a'] })).toMatchObject([
			{ id: 1, changedAt: Date.parse(createdAt) },
			{ id: 2, changedAt: null },
		]);
	});
});
