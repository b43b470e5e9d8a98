import type { INode } from 'n8n-workflow';

import {
	sleepingWorkflow,
	type SleepingItem,
} from '../../nodes/WaitForCompletion/sleeping-workflow';
import { NODE } from '../support/context';

const node: INode = {
	...NODE,
	name: 'Asleep',
	type: 'n8n-nodes-media-generation.waitForCompletion',
};

/** Returns the workflow of a step whose items have these run options, started at the epoch. */
function sleptIn(...runOptions: SleepingItem['runOptions'][]) {
	const items = runOptions.map((each) => ({
		mode: 'suspend',
		generationId: 'g',
		downloadOutput: true,
		options: { fileName: 'clip' },
		runOptions: each,
		waitingSince: 0,
	}));
	return sleepingWorkflow(node, items);
}

const checksOf = (workflow: ReturnType<typeof sleptIn>) =>
	workflow.nodes.filter(({ name }) => name.startsWith('Check ')).length;

describe('the workflow that a suspended wait sleeps in', () => {
	it('has enough checks for the item with the longest wait', () => {
		const longest = checksOf(sleptIn({ timeout: 86_400 }));
		expect(longest).toBeGreaterThan(checksOf(sleptIn({ timeout: 90 })));
		const several = sleptIn({ timeout: 90 }, { timeout: 86_400 }, { timeout: 1800 });
		expect(checksOf(several)).toBe(longest);
	});

	it('ignores a timeout that is not a number: that item fails on its own', () => {
		expect(checksOf(sleptIn({ timeout: 'soon' }, { timeout: 90 }))).toBe(
			checksOf(sleptIn({ timeout: 90 }, { timeout: 90 })),
		);
	});

	it('runs each of its nodes once, so that n8n can tell in which one it was killed', () => {
		const { nodes, connections } = sleptIn({});
		const [, ...line] = nodes.map(({ name }) => name);
		for (const [from, { main }] of Object.entries(connections)) {
			for (const [to] of main as Array<Array<{ node: string }>>) {
				expect(line.indexOf(to.node)).toBeGreaterThan(line.indexOf(from));
			}
		}
		expect(Object.keys(connections)).toEqual(line.slice(0, -1));
	});

	it('leaves out the checks that are not needed, so that they do not look as if they had run', () => {
		const { nodes, connections } = sleptIn({});
		const last = checksOf({ nodes } as ReturnType<typeof sleptIn>);
		expect(last).toBeGreaterThan(2);
		for (let number = 1; number < last; number++) {
			const follow = connections[`Ended ${number}?`].main.map((next) => next?.[0].node);
			expect(follow).toEqual(['Collect', `Check ${number + 1}`]);
		}
		expect(connections[`Check ${last}`].main[0]).toMatchObject([{ node: 'Collect' }]);
	});

	it('may be called by its workflow, for any default of n8n', () => {
		expect(sleptIn({}).settings).toMatchObject({ callerPolicy: 'workflowsFromSameOwner' });
	});

	it('waits by the options that were chosen, and by no others', () => {
		const { nodes } = sleptIn({ readiness: 'outputUrl', timeout: 900 });
		const collect = nodes.find(({ name }) => name === 'Collect');
		expect(collect?.parameters.options).toEqual({ fileName: '={{ $json.options.fileName }}' });
		expect(collect?.parameters.runOptions).toEqual({
			readiness: '={{ $json.runOptions.readiness }}',
			timeout: '={{ $json.runOptions.timeout }}',
		});
	});

	it('explains itself in a note for users who find it in the list of executions', () => {
		const note = sleptIn({}).nodes.find(({ type }) => type === 'n8n-nodes-base.stickyNote');
		expect(note?.parameters.content).toContain('The suspended wait of “Asleep”');
	});

	it('has no overlapping nodes', () => {
		const boxes = sleptIn({ timeout: 86_400 }).nodes.map(({ position: [x, y], parameters }) => ({
			x,
			y,
			width: Number(parameters.width ?? 100),
			// A node's name is shown below it.
			height: Number(parameters.height ?? 150),
		}));
		const overlapping = boxes.filter((one, index) =>
			boxes
				.slice(index + 1)
				.some(
					(other) =>
						one.x < other.x + other.width &&
						other.x < one.x + one.width &&
						one.y < other.y + other.height &&
						other.y < one.y + one.height,
				),
		);
		expect(overlapping).toEqual([]);
	});
});
