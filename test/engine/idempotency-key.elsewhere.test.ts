import type { Run } from '../../tools/engine';
import { items, keyed, openKeyedStage, workflowWith } from './keyed';

/** Keys that another node or workflow of the project has used: a copy, an import, or a deployment with new IDs. */

const { stage, created, rows: rowsOf } = openKeyedStage();

const list = items(['a', 'a boat'], ['b', 'a ship'], ['c', 'a raft']);

const run = async (id: string, all = list, parameters = keyed, node = 'the-node') =>
	await stage.runWorkflow({ ...workflowWith(parameters, { id: node }), id }, { items: all });

const warnings = (ran: Run) =>
	ran.hints('Step').flatMap(({ message, type }) => (type === 'warning' ? [message] : []));

const again = (which: string) =>
	`${which} created and charged although another node or workflow of this project has a generation for the same idempotency key and request. An idempotency key belongs to one node of one workflow, or to a name in Share Keys Under a Name. To reuse the existing rows here in later runs, set their workflow_id to the-copy and their node_id to the-node in the data table media_generations. To share them, set Share Keys Under a Name to the same name in both nodes, such as posters, and in the existing rows clear workflow_id and set node_id to scope:posters.`;

describe('a step in a copy of its workflow', () => {
	it('creates the items again, and a warning says so and what to do', async () => {
		await run('the-workflow');
		const copied = await run('the-copy');
		expect(created()).toBe(6);
		expect(warnings(copied)).toEqual([again('Items 1, 2, 3 of 3 were')]);
	});

	it('is not warned about items that it reuses', async () => {
		await run('the-workflow');
		await run('the-copy', list.slice(0, 2));
		expect(warnings(await run('the-copy'))).toEqual([again('Item 3 of 3 was')]);
		expect(warnings(await run('the-copy'))).toEqual([]);
	});

	it('reuses the rows once it has done what the warning says', async () => {
		await run('the-workflow');
		for (const row of rowsOf()) Object.assign(row, { workflow_id: 'the-copy' });
		expect(warnings(await run('the-copy'))).toEqual([]);
		expect(created()).toBe(3);
	});
});
