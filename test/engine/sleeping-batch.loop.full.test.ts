import type { INode } from 'n8n-workflow';

import { bareNode } from '../../tools/engine/bare-node';
import { sleepToEnd } from './asleep';
import { asleep, continues, items, openKeyedStage, workflowWith } from './keyed';

const type = 'test.round';

/** Passes on the items of one round, which is the node's name. */
const round = bareNode('round', {
	async execute() {
		const { name } = this.getNode();
		return [this.getInputData().filter(({ json }) => String(json.key).startsWith(name))];
	},
});

const { stage, created } = openKeyedStage({ extraNodes: { [type]: round } });

/** Returns a workflow that runs the step twice, as a loop does: with the items of the first and of the second round. */
function twoRounds() {
	const workflow = workflowWith(asleep({ maxConcurrent: 1 }), continues);
	const [start, step] = workflow.nodes;
	const to = (node: string) => ({ node, type: 'main' as const, index: 0 });
	const rounds = ['first', 'second'].map((name, index): INode => {
		return { ...start, id: name, name, type, position: [200, index * 100] };
	});
	return {
		...workflow,
		settings: { executionOrder: 'v1' as const },
		nodes: [start, ...rounds, step],
		connections: {
			Start: { main: [rounds.map(({ name }) => to(name))] },
			first: { main: [[to('Step')]] },
			second: { main: [[to('Step')]] },
		},
	};
}

const list = items(
	['first 1', 'a boat [seconds: 300]'],
	['first 2', 'a ship [fail: Out of paint]'],
	['second 1', 'a raft [seconds: 300]'],
	['second 2', 'a dinghy [seconds: 300]'],
	['second 3', 'a skiff [seconds: 300]'],
);

it('a batch sleeps in each round of a loop, and returns the items of that round', async () => {
	const end = await sleepToEnd(stage, await stage.runWorkflow(twoRounds(), { items: list }));
	expect([end.status, end.error?.message]).toEqual(['success', undefined]);
	const prompts = new Map(stage.sandbox.books.generations.map(({ id, prompt }) => [id, prompt]));
	const made = end.runData.Step.map(({ data }) =>
		data?.main[0]?.map(({ json }) => prompts.get(String(json.id))),
	);
	const texts = list.map(({ prompt }) => prompt);
	expect(made).toEqual([texts.slice(0, 2), texts.slice(2)]);
	expect(created()).toBe(5);
});
