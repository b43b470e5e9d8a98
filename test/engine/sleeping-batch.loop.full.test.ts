import type { IDataObject, INode, INodeParameters, IRunExecutionData } from 'n8n-workflow';

import { wallClock } from '../../nodes/shared/http/clock';
import type { Run } from '../../tools/engine';
import { bareNode } from '../../tools/engine/bare-node';
import { throughDatabase } from '../../tools/engine/core';
import { sleepToEnd, wake, nextOf } from './asleep';
import { items, openKeyedStage, workflowWith } from './keyed';

const type = 'test.round';

/** Passes on the items of one round, which is the node's name, and those of both rounds. */
const round = bareNode('round', {
	async execute() {
		const { name } = this.getNode();
		const isInRound = (key: string) => key.startsWith(name) || key.startsWith('both');
		return [this.getInputData().filter(({ json }) => isInRound(String(json.key)))];
	},
});

const { stage, created } = openKeyedStage({ extraNodes: { [type]: round } });

const parameters: INodeParameters = {
	downloadOutput: false,
	options: { idempotencyKey: '={{ $json.key }}' },
	runOptions: { whileWaiting: 'suspend', maxConcurrent: 1 },
};

/** Returns a workflow that runs the step twice, as a loop does: with the items of the first and of the second round. */
function twoRounds(runOptions: IDataObject = {}) {
	const all = {
		...parameters,
		runOptions: { ...(parameters.runOptions as object), ...runOptions },
	};
	const workflow = workflowWith(all as INodeParameters, { onError: 'continueRegularOutput' });
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

async function run(): Promise<Run> {
	return await stage.runWorkflow(twoRounds(), { items: list });
}

function expectBothRounds(end: Run): void {
	expect([end.status, end.error?.message]).toEqual(['success', undefined]);
	const prompts = new Map(stage.sandbox.books.generations.map(({ id, prompt }) => [id, prompt]));
	const made = end.runData.Step.map(({ data }) =>
		data?.main[0]?.map(({ json }) => prompts.get(String(json.id))),
	);
	const texts = list.map(({ prompt }) => prompt);
	expect(made).toEqual([texts.slice(0, 2), texts.slice(2)]);
	expect(created()).toBe(5);
}

it('a batch sleeps in each round of a loop, and returns the items of that round', async () => {
	expectBothRounds(await sleepToEnd(stage, await run()));
});

it('a wave waits until n8n has stored the sleep of its own round', async () => {
	let last = await run();
	let earlier: IRunExecutionData | undefined;
	while (last.runData.Step.length < 2) {
		earlier = throughDatabase(last.record.state.data);
		last = await wake(stage, last);
	}
	const { data } = last.record.state;
	const wave = nextOf(stage, last);
	const dueAt = wave.waitTill?.getTime() ?? 0;
	const storedAt = dueAt + 12_000;
	Object.defineProperty(last.record.state, 'data', {
		get: () => (wallClock.now() < storedAt ? earlier : data),
	});
	stage.leap(Math.max(0, dueAt - wallClock.now()) / 1000);
	await stage.engine.resume(wave);
	Object.defineProperty(last.record.state, 'data', { value: data });
	expectBothRounds(await sleepToEnd(stage, last));
});

describe('an item that runs in both rounds', () => {
	async function bothRounds(prompt: string, runOptions: IDataObject) {
		const workflow = twoRounds(runOptions);
		const run = await stage.runWorkflow(workflow, { items: items(['both', prompt]) });
		const end = await sleepToEnd(stage, run);
		return end.runData.Step.map(({ data }) => data?.main[0]?.[0].json);
	}

	it('is waited for in each of them, and not only until the timeout of the first', async () => {
		const runOptions = { timeout: 250, onTimeout: 'continue' };
		const [first, second] = await bothRounds('a boat [seconds: 400]', runOptions);
		expect([first?.timed_out, second?.timed_out, second?.status]).toEqual([
			true,
			false,
			'completed',
		]);
		expect([second?.id, created()]).toEqual([first?.id, 1]);
	});

	it('counts only once against Limit New Generations', async () => {
		const [first, second] = await bothRounds('a boat [seconds: 300] [fail: no]', {
			maxNewGenerations: 1,
		});
		expect([first?.error_code, second?.error_code]).toEqual([
			'generation_failed',
			'generation_failed',
		]);
		expect(created()).toBe(2);
	});
});
