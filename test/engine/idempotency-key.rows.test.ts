import type { IDataObject } from 'n8n-workflow';

import { items, keyed, openKeyedStage, workflowWith } from './keyed';

/** What the rows of the record hold, and what users make of them. */

const { stage, tables, rows, created, execute } = openKeyedStage();

const idsOf = (outputs: Array<{ json: IDataObject }>) => outputs.map(({ json }) => json.id);
const lose = () => stage.sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });
const resubmitting = {
	...keyed,
	options: { idempotencyKey: '={{ $json.key }}' },
	runOptions: { onUncertainCharge: 'resubmit' },
};

/** As n8n's CSV export and import leaves the rows: empty cells are NULL, ids and dates are new. */
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

describe('rows that were carried over by CSV', () => {
	it('are taken up: nothing is paid for again', async () => {
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

	it('of an uncertain order are sent again where the user wants that, in the same row', async () => {
		lose();
		await execute(items(['a', 'a boat']));
		carryOver();
		const run = await execute(items(['a', 'a boat']), resubmitting);
		expect(run.status).toBe('success');
		expect(rows()).toMatchObject([{ id: 100, status: 'completed' }]);
	});
});

it.each(['writer', 'status', 'execution_id', 'prompt'])(
	'a row whose cell %s a user has emptied ends as uncertain_charge or is sent again as chosen',
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
	// A column whose text the table gives back otherwise than it compares it.
	for (const row of rows()) row.writer = 7;
	const run = await execute(items(['a', 'a boat']), resubmitting);
	expect(run.error).toMatchObject({ context: { code: 'record_unavailable' } });
	expect(run.error).toHaveProperty('description', expect.stringMatching(/Row 1 cannot be changed/));
	expect(created()).toBe(1);
});

it('a table that does not give back what is added to it is an error, and no row is left in it', async () => {
	await execute(items(['a', 'a boat']));
	tables.before = (operation) => {
		// Such as a column that holds other texts than those that were written.
		if (operation === 'get') rows().forEach((row) => (row.workflow_id = 'another'));
	};
	const run = await execute(items(['b', 'a ship']));
	expect(run.error).toMatchObject({ context: { code: 'record_unavailable' } });
	expect(rows().map(({ key }) => key)).toEqual(['a']);
	expect(created()).toBe(1);
});

describe('an uncertain row', () => {
	const request = expect.stringMatching(/^[\da-f]{32}$/) as string;

	it('says what was asked for: its prompt, model, type and digest', async () => {
		lose();
		await execute(items(['a', 'a boat']));
		expect(rows()).toMatchObject([
			{ status: 'sent', prompt: 'a boat', model: 'lumen-turbo', type: 'image', request },
		]);
	});

	it('says what was requested last, and keeps the digest that its header stems from', async () => {
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

	it('is known by its name: the next execution pays nothing', async () => {
		const list = items(['a', 'a boat']);
		const first = await stage.runWorkflow(nameless(), { items: list });
		const second = await stage.runWorkflow(nameless(), { items: list });
		expect([first.status, second.status]).toEqual(['success', 'success']);
		expect(idsOf(second.output('Step'))).toEqual(idsOf(first.output('Step')));
		expect(rows()).toMatchObject([{ node_id: 'name:Step' }]);
		expect(created()).toBe(1);
	});
});
