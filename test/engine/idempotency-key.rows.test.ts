import type { IDataObject } from 'n8n-workflow';

import { items, keyed, openKeyedStage, workflowWith } from './keyed';

const { stage, tables, rows, created, execute } = openKeyedStage();

const idsOf = (outputs: Array<{ json: IDataObject }>) => outputs.map(({ json }) => json.id);
describe('a node without an id, as in a sub-workflow given as JSON', () => {
	const workflow = workflowWith(keyed);
	const nodes = workflow.nodes.map((node) => (node.name === 'Step' ? { ...node, id: '' } : node));
	const nameless = { ...workflow, nodes };

	it('is identified by its name: the next execution pays nothing', async () => {
		const list = items(['a', 'a boat']);
		const first = await stage.runWorkflow(nameless, { items: list });
		const second = await stage.runWorkflow(nameless, { items: list });
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
});
