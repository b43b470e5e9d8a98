import type { INode } from 'n8n-workflow';

import {
	guardWorkflow,
	resultsWorkflow,
	wavesWorkflow,
	type HelperOf,
	type Noun,
} from '../../../nodes/shared/sleep/workflows';
import { NODE } from '../../support/context';

const node = (type: string): INode => ({
	...NODE,
	name: 'Asleep',
	type: `n8n-nodes-media-generation.${type}`,
});

const builders = {
	guardWorkflow,
	wavesWorkflow,
	resultsWorkflow: (of: HelperOf) => resultsWorkflow(of, true),
};
const nouns: Array<[Noun, string]> = [
	['sleeping batch', 'imageGeneration'],
	['suspended wait', 'waitForCompletion'],
];
const workflows = nouns.flatMap(([noun, type]) =>
	Object.entries(builders).map(
		([name, build]) =>
			[`${name} of a ${noun}`, build({ node: node(type), step: 'Asleep', noun })] as const,
	),
);

describe.each(workflows)('%s', (_, { nodes, connections, settings }) => {
	it('runs each of its nodes once, so that n8n can tell in which one it was killed', () => {
		const [, ...line] = nodes.map(({ name }) => name);
		expect(Object.keys(connections)).toEqual(line.slice(0, -1));
		const next = Object.values(connections).map(({ main }) => main[0]?.map((to) => to.node));
		expect(next).toEqual(line.slice(1).map((name) => [name]));
	});

	it('may be called by its workflow, for any default of n8n', () => {
		expect(settings).toMatchObject({ callerPolicy: 'workflowsFromSameOwner' });
	});

	it('explains itself in a note for users who find it in the list of executions', () => {
		const note = nodes.find(({ type }) => type === 'n8n-nodes-base.stickyNote');
		expect(note?.parameters.content).toContain('of “Asleep”');
	});

	it('has no overlapping nodes', () => {
		const boxes = nodes.map(({ position: [x, y], parameters }) => ({
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
