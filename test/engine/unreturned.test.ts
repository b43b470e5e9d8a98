import { join } from 'node:path';

import { readWorkflow } from '../../tools/engine';
import { inARow } from '../../tools/engine/in-a-row';
import { openKeyedStage, items, workflowWith } from './keyed';
import { binaryOf } from './stage';

const { stage, tables, rows, created, execute } = openKeyedStage();

const noKeys = { downloadOutput: false };
const paidIds = () =>
	stage.sandbox.books.generations
		.filter(({ prompt }) => !prompt.includes('[fail'))
		.map(({ id }) => id);

describe('a generation that was charged and not returned', () => {
	it('has a row without a key after an error ended the step', async () => {
		const list = items([null, '[seconds: 1] a boat'], [null, '[seconds: 2] [fail: no paint]']);
		const run = await execute(list, noKeys);
		expect(run.status).toBe('error');
		const [id] = paidIds();
		expect(rows()).toEqual([
			expect.objectContaining({
				key: null,
				workflow_id: 'the-workflow',
				node_id: 'the-node',
				generation_id: id,
				status: 'completed',
				type: 'image',
				model: 'lumen-turbo',
				prompt: '[seconds: 1] a boat',
			}),
		]);
	});

	it.each([
		['there is no table yet', []],
		['another table has a similar name', ['media_generations', 'media_generations (old)']],
	])('has a row without a key after a stop, where %s', async (_, names) => {
		// The id of the table is remembered for a minute, and each test has its own table.
		await stage.pass(61);
		for (const name of names) tables.add(name);
		const list = items([null, '[seconds: 30] a boat'], [null, '[seconds: 30] a ship']);
		const run = await stage.runWorkflow(workflowWith(noKeys), {
			items: list,
			onReady: ({ cancel }) => {
				void (async () => {
					while (created() < 2) await stage.pass(0);
					cancel();
				})();
			},
		});
		expect(run.status).toBe('canceled');
		const ids = rows().map(({ generation_id: id }) => id);
		expect(ids.sort()).toEqual(paidIds().sort());

		const example = readWorkflow(join(__dirname, '../../examples/stopped-run.json'));
		const entered = { name: 'Stopped Execution', type: 'n8n-nodes-base.noOp' };
		const from = example.nodes.findIndex(({ name }) => name === 'Create Table Once');
		const fetched = await stage.runWorkflow(inARow(entered, ...example.nodes.slice(from)), {
			items: [{ execution_id: rows()[0].execution_id }],
		});
		const files = fetched.output('Fetch Files').map((item) => binaryOf(item).fileName);
		expect(files.sort()).toEqual([
			expect.stringMatching(/^seconds-30-a-boat-/),
			expect.stringMatching(/^seconds-30-a-ship-/),
		]);
		expect(created()).toBe(2);
	});
});

it('a generation that was charged before the timeout of the workflow has a row, although n8n answers no call after it', async () => {
	await stage.pass(61);
	let isOver = false;
	let calls = 0;
	tables.before = (operation) => {
		// The call that is waited for ends with an error. The same call is then started and not waited for.
		if (isOver && operation === 'list' && calls++ === 0) throw new Error('No answer');
	};
	await stage.runWorkflow(workflowWith(noKeys), {
		items: items([null, '[seconds: 30] a boat']),
		onReady: ({ cancel }) => {
			void (async () => {
				while (created() < 1) await stage.pass(0);
				isOver = true;
				cancel();
			})();
		},
	});
	while (rows().length === 0) await stage.pass(0);
	expect(rows().map(({ generation_id: id }) => id)).toEqual(paidIds());
});
