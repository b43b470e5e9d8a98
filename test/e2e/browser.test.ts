/** Checks the nodes in n8n's editor in a real browser. */
import { join } from 'node:path';
import { readWorkflowFile } from '../../tools/n8n/rest';
import { atAGlance, partWith } from './support/at-a-glance';
import { Editor } from './support/browser';
import { readExample } from './support/examples';
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

describe('the node panel', () => {
	it('finds the nodes by the words that people search for', async () => {
		await editor.openWorkflow();
		const first = async (words: string) => (await editor.search(words))[0];
		expect(await first('text to image')).toBe('Image Generation');
		expect(await first('generate image')).toBe('Image Generation');
		expect(await first('text to video')).toBe('Video Generation');
		expect(await first('generate video')).toBe('Video Generation');
		expect(await first('AI image')).toBe('Image Generation');
		for (const words of ['AI video', 'animate', 'animation']) {
			expect([words, await first(words)]).toEqual([words, 'Video Generation']);
		}
		// n8n boosts its own popular nodes, so check only that none of our other nodes comes before the expected one.
		const among = async (words: string, most: number) => {
			const top = (await editor.search(words)).slice(0, most);
			return top.filter((name) => name.includes('Generation'))[0];
		};
		expect(await among('image', 3)).toBe('Image Generation');
		expect(await among('video', 3)).toBe('Video Generation');
		for (const words of ['picture', 'media generation']) {
			expect([words, await among(words, 99)]).toEqual([
				words,
				expect.stringMatching(/^(Image|Video) Generation$/),
			]);
		}
		const ours = (await editor.search('generate')).filter((name) => name.includes('Generation'));
		expect(ours.slice(0, 2).sort()).toEqual(['Image Generation', 'Video Generation']);
		expect((await editor.search('wait')).slice(0, 10)).toContain('Wait for Completion');
		expect(await first('credits')).toBe('Generation Credits');
		expect(await editor.search('balance')).toContain('Generation Credits');
		expect(await editor.search('image')).toContain('Image Generation');
		expect(await editor.search('poll')).toContain('Wait for Completion');
		expect(await editor.search('models')).toContain('Generation Models');
		expect((await editor.search('media')).slice(0, 5).sort()).toEqual([
			'Generation Credits',
			'Generation Models',
			'Image Generation',
			'Video Generation',
			'Wait for Completion',
		]);
		await editor.shoot('node-panel');
	});
});

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

describe('the examples of everyday jobs', () => {
	const names = [
		...['product-photo-to-video', 'carousel-of-four', 'three-models-gallery'],
		...['approve-before-posting', 'image-to-video', 'post-to-telegram', 'mcp-server', 'ai-agent'],
		...['monthly-credits-report', 'batch-status-page'],
	];

	it('are all on one picture, and nothing is missing in them but the accounts of others', async () => {
		const others = [
			await stage.rest.saveCredential('Telegram', 'telegramApi', { accessToken: 'none' }),
			await stage.rest.saveCredential('OpenAI', 'openAiApi', { apiKey: 'none' }),
			await stage.rest.saveCredential('MCP', 'httpBearerAuth', { token: 'none' }),
		];
		const file = atAGlance(await Promise.all(names.map(readExample)));
		const { id } = await stage.save(file, ...others);
		await editor.page.setViewportSize({ width: 1900, height: 1400 });
		await editor.openWorkflow(id);
		const frames = editor.page.locator('[data-node-type="n8n-nodes-base.stickyNote"]');
		await editor.part('zoom-to-fit').click();
		// n8n moves the canvas for a moment.
		await editor.shoot('examples-page');
		await editor.shootForReadme('examples', await partWith(editor.page, frames));
		expect(await frames.count()).toBe(names.length);
		expect(await editor.part('node-issues').count()).toBe(0);
		await editor.page.setViewportSize({ width: 1440, height: 900 });
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
