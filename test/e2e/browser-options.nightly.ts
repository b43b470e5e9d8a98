/** Sets options of the generating nodes by hand in n8n's editor, and checks the step that results. */
import { Editor } from './support/browser';
import { Stage } from './support/stage';
import { byHand, imageNode, small } from './support/workflows';

let stage: Stage;
let editor: Editor;

beforeAll(async () => {
	stage = await Stage.share({ name: 'browser-options' });
	editor = await Editor.open(stage.n8n.url, stage.user, stage.folder);
});
afterAll(async () => {
	await editor?.close();
	await stage?.close();
});

it('a user sets what a step generates, what it may cost and how it runs, and the run matches', async () => {
	const { parameters, ...node } = imageNode();
	const { model, prompt } = parameters;
	const step = { ...node, parameters: small({ model, prompt }) };
	const workflow = await stage.save(byHand('Options', ['a red boat', 'a blue boat'], step));
	await editor.openWorkflow(workflow.id);
	await editor.openNode('Images');
	await editor.field('numberOfOutputs').locator('input').fill('2');
	await editor.addTo(
		'Option',
		'Additional Body Fields (JSON)',
		'File Name',
		'Include Other Input Fields',
	);
	await editor.field('fileName').locator('input').fill('boat');
	await editor.shoot('options');

	await editor.addTo('Run Option', 'Limit New Generations', 'Retries of Failed Generations');
	await editor.addTo(
		'Run Option',
		'Stop Below Balance',
		'Fallback Models',
		'Sleep During Long Batches',
	);
	await editor.field('maxNewGenerations').locator('input').fill('4');
	await editor.field('retriesOnFailure').locator('input').fill('1');
	await editor.field('minimumBalance').locator('input').fill('1');
	await editor.choose('fallbackModels', /^Kestrel Vision XL/);
	await editor.shoot('run-options');

	await editor.part('ndv').getByText('Execute step', { exact: true }).first().click();
	const output = editor.part('output-panel');
	await output.getByText('including other work on this account').waitFor();
	await output.getByText('4 items').waitFor();
	await editor.shoot('options-output');
	const made = stage.sandbox.books.generations.map(({ prompt }) => prompt);
	expect(made.sort()).toEqual(['a blue boat', 'a blue boat', 'a red boat', 'a red boat']);
	await output.getByText('boat-2.png').first().waitFor();
});
