/** Checks the nodes in n8n's editor in a real browser. */
import { join } from 'node:path';
import { readWorkflowFile } from '../../tools/n8n/rest';
import { Editor } from './support/browser';
import { Stage } from './support/stage';
import { repository } from './support/surroundings';
import { until } from './support/until';

let stage: Stage;
let editor: Editor;

beforeAll(async () => {
	// The catalog lists realistic durations.
	stage = await Stage.share({
		name: 'browser',
		sandbox: { timeScale: 1, generationSeconds: 3 },
	});
	editor = await Editor.open(stage.n8n.url, stage.user, stage.folder);
});
afterAll(async () => {
	await editor?.close();
	await stage?.close();
});

/** Waits for a text under a node's icon on the canvas, where its name and its settings are. */
const expectCaption = async (name: string, text: string) =>
	await editor.node(name).getByText(text).waitFor();

describe('a node from the panel', () => {
	it('searches the models of the live catalog', async () => {
		await editor.openWorkflow();
		await editor.add('text to image', 'Image Generation');
		const items = await editor.openModels();
		await editor.part('rlc-search').fill('kestrel');
		await until('two models are left', async () => (await items.count()) === 2);
		expect((await items.allInnerTexts())[0]).toContain('Kestrel Vision XL');
		await items.first().click();
		expect(await editor.part('rlc-input').inputValue()).toMatch(/^Kestrel Vision XL · /);
		await editor.shoot('model-chosen');
	});
});

describe('the main example', () => {
	it('shows what each of its nodes is set to', async () => {
		const file = await readWorkflowFile(join(repository, 'examples', 'main.json'));
		const workflow = await stage.save(file);
		await editor.openWorkflow(workflow.id);
		await expectCaption('Check Credits', 'Get Balance');
		await expectCaption('Create Picture', 'Model by Expression');
		await expectCaption('Collect Video', 'Poll Until Ready');
		await editor.shoot('workflow');

		await editor.openNode('Start Video');
		await editor.part('ndv').getByText('so there is no file yet').waitFor();
		await editor.shoot('not-waiting');
		await editor.closeNode();
	});
});

describe('as the tool of an agent', () => {
	it('a node hides the fields for a file, because the agent never receives one', async () => {
		const file = await readWorkflowFile(join(repository, 'examples', 'ai-agent.json'));
		const { id } = await stage.save(file);
		await editor.openWorkflow(id);
		await expectCaption('Create Picture', 'aurora-image-1');
		await editor.openNode('Create Picture');
		await editor.field('prompt').waitFor();
		await editor.field('waitForCompletion').waitFor();
		expect(await editor.field('downloadOutput').count()).toBe(0);
		expect(await editor.field('binaryPropertyName').count()).toBe(0);
		await editor.shoot('tool');
	});
});
