import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { inARow } from '../../tools/engine/in-a-row';
import type { Run } from '../../tools/engine';
import { ownNode } from '../support/workflow';
import { sleepToEnd } from './asleep';
import { files, filesNodes } from './files-node';
import { asleep, items, keyed, openKeyedStage } from './keyed';
import { byId } from './stage';

/**
 * Limit New Generations with On Error = Stop, where items with an output come after one that is left out. n8n pairs the
 * output by position.
 */

const { stage, created, execute } = openKeyedStage({ extraNodes: filesNodes });

const boat = (index: number, words = '[seconds: 300]'): [string, string] => [
	`k${index}`,
	`boat ${index} ${words}`,
];
const boats = (count: number) => items(...Array.from({ length: count }, (_, index) => boat(index)));

/** The number of the boat in each output item; its error code if it has none. */
const output = (run: Run) =>
	run.output('Step').map(({ json }) => {
		const made = stage.sandbox.books.find(String(json.id));
		return made ? Number(made.prompt.split(' ')[1]) : json.error_code;
	});
const left = 'generation_limit_reached';

it('an item that another execution creates meanwhile keeps its position', async () => {
	const first = await execute(boats(5), asleep({ maxNewGenerations: 1, maxConcurrent: 1 }));
	await execute(items(boat(3, '[seconds: 1]')), keyed);
	const end = await sleepToEnd(stage, first);
	expect([end.error, output(end)]).toEqual([undefined, [0, left, left, 3]]);
	const again = await sleepToEnd(stage, await execute(boats(5), asleep()));
	expect([output(again), created()]).toEqual([[0, 1, 2, 3, 4], 5]);
});

it('an item whose large file is read for longer than the files of the others is left out', async () => {
	const parameters: INodeParameters = {
		...asleep({ maxNewGenerations: 2, maxConcurrent: 10 }),
		model: byId('aurora-image-1'),
		prompt: '={{ $json.prompt }}',
		referenceInputs: { input: [{ source: 'binary', binaryPropertyName: 'data' }] },
	};
	const list = boats(4).map((item, index) => {
		const bytes = index === 0 ? 4 * 1024 * 1024 : 100;
		return { ...item, files: { data: { name: 'a.png', mimeType: 'image/png', bytes } } };
	});
	const step = ownNode('Step', 'imageGeneration', parameters, { id: 'the-node' });
	const workflow = { ...inARow(files, step), id: 'the-workflow' };
	const first = await stage.runWorkflow(workflow, { items: list as unknown as IDataObject[] });
	const end = await sleepToEnd(stage, first);
	// Which items are created depends on the time that their files take. Every created one is returned at its position.
	const made = stage.sandbox.books.generations.map(({ prompt }) => Number(prompt.split(' ')[1]));
	expect(made).toHaveLength(2);
	const expected = list.map((_, index) => (made.includes(index) ? index : left));
	expect([end.error, output(end)]).toEqual([undefined, expected.slice(0, Math.max(...made) + 1)]);
});

it('an item whose generation of an earlier run has failed is left out, and the others are returned', async () => {
	const list = items(boat(0, '[fail: no paint] [seconds: 1]'), boat(1), boat(2));
	await execute(list.slice(0, 1), { ...keyed, waitForCompletion: false });
	stage.leap(30);
	const first = await execute(list, asleep({ maxNewGenerations: 2, maxConcurrent: 5 }));
	const end = await sleepToEnd(stage, first);
	expect([end.error, output(end)]).toEqual([undefined, [left, 1, 2]]);
});

it('a batch sleeps if the limit is enough for all items that may be new', async () => {
	const list = items(boat(0, '[seconds: 1]'), boat(1), boat(2, '[seconds: 1]'));
	await execute([list[0], list[2]], keyed);
	const first = await execute(list, asleep({ maxNewGenerations: 2 }));
	expect(first.status).toBe('waiting');
	expect(output(await sleepToEnd(stage, first))).toEqual([0, 1, 2]);
});
