/** Checks expressions in a real n8n, whose expression engine differs from the one of the in-process tests. */
import type { INodeParameters } from 'n8n-workflow';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import { byHand, imageNode, trigger } from './support/workflows';
import type { OwnNode } from './support/workflows';

let stage: Stage;

beforeAll(async () => {
	stage = await Stage.share({ name: 'inputs' });
});
afterAll(async () => await stage?.close());
beforeEach(() => stage.sandbox.reset());

async function ran(node: OwnNode): Promise<Execution> {
	const workflow = await stage.save(byHand('Inputs', ['A boat'], node));
	return await stage.executions.ended(await stage.executions.run(workflow, trigger));
}

const image = (parameters: INodeParameters): OwnNode => ({
	...imageNode(),
	parameters: { ...imageNode().parameters, waitForCompletion: false, ...parameters },
});

it.each<[string, OwnNode]>([
	['The expression in Prompt is undefined', image({ prompt: '={{ $json.mistyped }}' })],
	['Prompt must be a single value', image({ prompt: '={{ $json }}' })],
	['the expression returned NaN', image({ prompt: '={{ 0 / 0 }}' })],
	[
		'The expression in Seed is undefined',
		image({ options: { seed: '={{ $json.mistyped.deeper }}' } }),
	],
])('charges nothing if the error is: %s', async (says, node) => {
	const execution = await ran(node);
	expect([execution.status, errorOf(execution)]).toEqual(['error', expect.stringContaining(says)]);
	expect(stage.sandbox.requests.on('create')).toEqual([]);
});

it('sends the results of expressions, and nothing for empty ones', async () => {
	const options = {
		size: '={{ "" }}',
		seed: '={{ null }}',
		negativePrompt: '={{ "" }}',
		inputImages: '={{ ["https://example.com/a.png", null] }}',
	};
	const execution = await ran(image({ prompt: '=On {{ $now.year }}', options }));
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	expect(itemsOf(execution, 'Images')).toHaveLength(1);
	expect(stage.sandbox.books.generations.map(({ request }) => request)).toEqual([
		{
			model: 'aurora-image-1',
			prompt: expect.stringMatching(/^On \d{4}$/),
			input_images: ['https://example.com/a.png'],
		},
	]);
});

it('sends a date as ISO text', async () => {
	const execution = await ran(image({ prompt: '={{ $now }}' }));
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	expect(stage.sandbox.books.generations[0].prompt).toMatch(/^\d{4}-\d\d-\d\dT/);
});
