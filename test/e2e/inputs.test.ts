/** Checks expressions in a real n8n, whose expression engine differs from the one of the in-process tests. */
import type { INodeParameters } from 'n8n-workflow';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import { byHand, imageNode, trigger } from './support/workflows';
import type { OwnNode } from './support/workflows';

let stage: Stage;

beforeAll(async () => {
	stage = await Stage.open({ name: 'inputs' });
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
const video = (parameters: INodeParameters): OwnNode => ({
	...image({}),
	type: 'videoGeneration',
	parameters: {
		model: { __rl: true, mode: 'id', value: 'aurora-motion-1' },
		prompt: 'A wave',
		waitForCompletion: false,
		...parameters,
	},
});
const reference = (fields: INodeParameters) =>
	image({ referenceInputs: { input: [{ source: 'url', ...fields }] } });

it.each<[string, OwnNode]>([
	['The expression in Prompt is undefined', image({ prompt: '={{ $json.mistyped }}' })],
	['Prompt must be a single value', image({ prompt: '={{ $json }}' })],
	['Prompt must be a single value', image({ prompt: '=A picture of {{ $json }}' })],
	['the expression returned true', image({ prompt: '={{ $json.prompt.length > 0 }}' })],
	['the expression returned NaN', image({ prompt: '={{ 0 / 0 }}' })],
	[
		'The expression in Seed is undefined',
		image({ options: { seed: '={{ $json.mistyped.deeper }}' } }),
	],
	[
		'The expression in Idempotency Key is undefined',
		image({ options: { idempotencyKey: '={{ $json.mistyped }}' } }),
	],
	[
		'The expression in Reference File 1: URL is undefined',
		reference({ url: '={{ $json.mistyped }}' }),
	],
	[
		'The expression in Input Image URL is undefined',
		video({ imageUrl: '={{ $json.mistyped.deeper }}' }),
	],
	[
		'The expression in Duration (Seconds) is undefined',
		video({ duration: '={{ $json.mistyped }}' }),
	],
	[
		'The expression in Resolution is undefined',
		video({ resolution: '={{ $("Prompts").item.json.mistyped }}' }),
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
