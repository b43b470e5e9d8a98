import type { Run } from '../../tools/engine';
import { sleepToEnd } from './asleep';
import { asleep, items, keyed, openKeyedStage } from './keyed';

/**
 * Limit New Generations with On Error = Stop, where items with an output come after one that is not sent. n8n pairs the
 * output by position.
 */

const { stage, created, execute } = openKeyedStage();

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

it('a batch sleeps if the limit is enough for all items that may be new', async () => {
	const list = items(boat(0, '[seconds: 1]'), boat(1), boat(2, '[seconds: 1]'));
	await execute([list[0], list[2]], keyed);
	const first = await execute(list, asleep({ maxNewGenerations: 2 }));
	expect(first.status).toBe('waiting');
	expect(output(await sleepToEnd(stage, first))).toEqual([0, 1, 2]);
});
