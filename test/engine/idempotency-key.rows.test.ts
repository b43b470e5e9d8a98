import type { IDataObject } from 'n8n-workflow';

import { items, keyed, openKeyedStage, workflowWith } from './keyed';

/** Checks the contents of journal rows, and rows that users have edited. */

const { stage, tables, rows, created, execute } = openKeyedStage();

const idsOf = (outputs: Array<{ json: IDataObject }>) => outputs.map(({ json }) => json.id);
const lose = () => stage.sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });
const resubmitting = {
	...keyed,
	options: { idempotencyKey: '={{ $json.key }}' },
	runOptions: { onUncertainCharge: 'resubmit' },
};

/** Changes the rows as n8n's CSV export and import does: empty cells are NULL, and IDs and dates are new. */
function carryOver(): void {
	const at = new Date(0).toISOString();
	const carried = rows().map((row, index) => ({
		...Object.fromEntries(
			Object.entries(row).map(([name, cell]) => [name, cell === '' ? null : cell]),
		),
		id: 100 + index,
		createdAt: at,
		updatedAt: at,
	}));
	Object.assign(tables.tables[0], { rows: carried, nextId: 200 });
}

describe('rows after a CSV export and import', () => {
	it('are reused: nothing is charged again', async () => {
		const list = items(['a', 'a boat'], ['b', 'a ship']);
		const first = await execute(list);
		carryOver();
		const second = await execute(list);
		expect(idsOf(second.output('Step'))).toEqual(idsOf(first.output('Step')));
		expect(created()).toBe(2);
	});

	it('of an uncertain order end as uncertain_charge', async () => {
		lose();
		await execute(items(['a', 'a boat']));
		carryOver();
		const run = await execute(items(['a', 'a boat']));
		expect(run.error).toMatchObject({ context: { code: 'uncertain_charge' } });
		expect(created()).toBe(1);
	});

	it('of an uncertain order are sent again in the same row if the user chose to', async () => {
		lose();
		await execute(items(['a', 'a boat']));
		carryOver();
		const run = await execute(items(['a', 'a boat']), resubmitting);
		expect(run.status).toBe('success');
		expect(rows()).toMatchObject([{ id: 100, status: 'completed' }]);
	});
});

it.each(['writer', 'status', 'execution_id', 'prompt'])(
	'a row whose cell %s was emptied by a user ends as uncertain_charge, or is sent again if chosen',
	async (column) => {
		lose();
		await execute(items(['a', 'a boat']));
		for (const row of rows()) row[column] = '';
		const run = await execute(items(['a', 'a boat']));
		expect(run.error).toMatchObject({ context: { code: 'uncertain_charge' } });
		for (const row of rows()) row[column] = null;
		expect((await execute(items(['a', 'a boat']), resubmitting)).status).toBe('success');
		expect(rows()).toHaveLength(1);
	},
);

it('a row that cannot be changed is an error of its item, which names the row', async () => {
	lose();
	await execute(items(['a', 'a boat']));
	// The table compares this column differently from the text that it returns.
	for (const row of rows()) row.writer = 7;
	const run = await execute(items(['a', 'a boat']), resubmitting);
	expect(run.error).toMatchObject({ context: { code: 'record_unavailable' } });
	expect(run.error).toHaveProperty('description', expect.stringMatching(/Row 1 cannot be changed/));
	expect(created()).toBe(1);
});

it('a table that does not return an added row is an error, and the row is removed', async () => {
	await execute(items(['a', 'a boat']));
	tables.before = (operation) => {
		// For example, a column that stores other text than was written.
		if (operation === 'get') rows().forEach((row) => (row.workflow_id = 'another'));
	};
	const run = await execute(items(['b', 'a ship']));
	expect(run.error).toMatchObject({ context: { code: 'record_unavailable' } });
	expect(rows().map(({ key }) => key)).toEqual(['a']);
	expect(created()).toBe(1);
});

describe('an uncertain row', () => {
	const request = expect.stringMatching(/^[\da-f]{32}$/) as string;

	it('shows the request: its prompt, model, type and digest', async () => {
		lose();
		await execute(items(['a', 'a boat']));
		expect(rows()).toMatchObject([
			{ status: 'uncertain', prompt: 'a boat', model: 'lumen-turbo', type: 'image', request },
		]);
	});

	it('shows the last request, and keeps the digest from which its header was made', async () => {
		lose();
		await execute(items(['a', 'a boat']));
		const [{ request: before }] = rows();
		lose();
		await execute(items(['a', 'a ship']), resubmitting);
		expect(rows()).toMatchObject([{ prompt: 'a ship', request }]);
		expect(rows()[0].request).toBe(before);
	});

	it('has the digest of the whole request, reference inputs included', async () => {
		const url = 'https://example.com/sketch.png';
		const referenceInputs = { input: [{ source: 'url', type: '', url }] };
		const list = items(['a', 'a boat'], ['b', 'a boat']);
		stage.sandbox.faults.order({ on: 'create', times: 2, action: { kind: 'loseAnswer' } });
		await execute(list.slice(0, 1), { ...keyed, referenceInputs });
		await execute(list.slice(1));
		const [first, second] = rows();
		expect([first.prompt, second.prompt]).toEqual(['a boat', 'a boat']);
		expect(first.request).not.toBe(second.request);
	});
});

describe('a node without an id, as in a sub-workflow given as JSON', () => {
	function nameless(name = 'Step') {
		const workflow = workflowWith(keyed, {});
		const nodes = workflow.nodes.map((node) => (node.name === 'Step' ? { ...node, id: '' } : node));
		return {
			...workflow,
			nodes: nodes.map((node) => ({ ...node, name: node.name === 'Step' ? name : node.name })),
		};
	}

	it('is identified by its name: the next execution pays nothing', async () => {
		const list = items(['a', 'a boat']);
		const first = await stage.runWorkflow(nameless(), { items: list });
		const second = await stage.runWorkflow(nameless(), { items: list });
		expect([first.status, second.status]).toEqual(['success', 'success']);
		expect(idsOf(second.output('Step'))).toEqual(idsOf(first.output('Step')));
		expect(rows()).toMatchObject([{ node_id: 'name:Step' }]);
		expect(created()).toBe(1);
	});
});

describe.each([
	['of a node', {}],
	['of a key scope', { keyScope: 'posters' }],
])('a single item with a key %s', (_, scope) => {
	const parameters = {
		downloadOutput: false,
		options: { idempotencyKey: '={{ $json.key }}', ...scope },
	};

	it('that is on record is reused without a second row, not even for a moment', async () => {
		const first = await execute(items(['a', 'a boat']), parameters);
		let inserts = 0;
		tables.before = (operation) => {
			if (operation === 'insert') inserts += 1;
		};
		const second = await execute(items(['a', 'a boat']), parameters);
		expect(idsOf(second.output('Step'))).toEqual(idsOf(first.output('Step')));
		expect(inserts).toBe(0);
		expect([rows().length, created()]).toEqual([1, 1]);
	});

	it('whose generation failed is created again, and gets its own row', async () => {
		await execute(items(['a', 'a boat [fail: no paint]']), parameters);
		const run = await execute(items(['a', 'a boat']), parameters);
		expect(run.status).toBe('success');
		expect(rows().map(({ status }) => status)).toEqual(['failed', 'completed']);
		expect(created()).toBe(2);
	});
});
