import { sleepToEnd } from './asleep';
import { items, keyed, openKeyedStage, workflowWith } from './keyed';
import { binaryOf } from './stage';

/** The name of a file whose generation an earlier execution created. */

const { stage, created } = openKeyedStage();
const downloaded = { ...keyed, downloadOutput: true };
const asleep = { ...downloaded, runOptions: { whileWaiting: 'suspend' } };

const runs = async (list: ReturnType<typeof items>, parameters: typeof downloaded) => {
	const run = await stage.runWorkflow(workflowWith(parameters), { items: list });
	return await sleepToEnd(stage, run);
};

it.each([
	['a step that polls', downloaded],
	['a batch that sleeps', asleep],
])('in %s, a reused picture is named after the prompt it was made of', async (_, parameters) => {
	await runs(items(['a', 'a harbor at dawn']), downloaded);
	const list = items(['a', 'a forest at night'], ['b', 'a ship at sea [seconds: 300]']);
	const run = await runs(list, parameters);
	expect(created()).toBe(2);
	const names = run.output('Step').map((item) => binaryOf(item).fileName);
	expect(names).toEqual([
		expect.stringMatching(/^a-harbor-at-dawn-[\da-f]{8}\.png$/),
		expect.stringMatching(/^a-ship-at-sea-seconds-300-[\da-f]{8}\.png$/),
	]);
});

it('a picture that two items share is named after the prompt of the item that created it', async () => {
	const parameters = { ...downloaded, runOptions: { maxConcurrent: 1 } };
	const run = await runs(items(['a', 'a harbor at dawn'], ['a', 'a forest at night']), parameters);
	const names = run.output('Step').map((item) => binaryOf(item).fileName);
	expect(names).toEqual(Array(2).fill(expect.stringMatching(/^a-harbor-at-dawn-/)));
});
