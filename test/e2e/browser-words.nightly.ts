/** Checks the texts in n8n's editor in a real browser: the node panel, an error, and the notes of the examples. */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readWorkflowFile } from '../../tools/n8n/rest';
import { Editor } from './support/browser';
import { Stage } from './support/stage';
import { repository } from './support/surroundings';
import { until } from './support/until';
import { byHand, imageNode } from './support/workflows';

let stage: Stage;
let editor: Editor;

beforeAll(async () => {
	stage = await Stage.share({ name: 'browser-words' });
	editor = await Editor.open(stage.n8n.url, stage.user, stage.folder);
});
afterAll(async () => {
	await editor?.close();
	await stage?.close();
});

/** The part of the browser's own types that these tests use. This repository does not load those types. */
interface Box {
	offsetWidth: number;
	getBoundingClientRect(): { width: number; bottom: number };
	querySelectorAll(selector: string): Iterable<Box>;
}

/** Returns the zoom at which a note is shown, and by how many pixels its text overflows it. */
function measure(note: Box): { zoom: number; beyond: number } {
	const { width, bottom } = note.getBoundingClientRect();
	const texts = [...note.querySelectorAll('p, li, h2')];
	const lowest = Math.max(...texts.map((text) => text.getBoundingClientRect().bottom));
	return { zoom: width / note.offsetWidth, beyond: lowest - bottom };
}

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

describe('an error', () => {
	it('shows its reason in the notification, and what to do in the panel, in the words of the service', async () => {
		const words = 'No <b>paint</b> left & <width>x<height>';
		const prompts = ['a boat', 'a ship', 'a raft', 'a dinghy'];
		stage.sandbox.faults.order({
			on: 'create',
			match: { promptIncludes: 'raft' },
			action: { kind: 'error', code: 'invalid_parameter', message: words },
		});
		const file = byHand('Refused', prompts, imageNode({ maxConcurrent: 1 }));
		await editor.openWorkflow((await stage.save(file)).id);
		const notice = await editor.executeToError();
		expect(notice).toContain('No ‹b›paint‹/b› left & ‹width›x‹height›');
		await editor.shoot('error-notice', true);

		await editor.openNode('Images');
		expect(await editor.part('node-error-message').innerText()).toContain(
			'Invalid parameter: No ‹b›paint‹/b› left & ‹width›x‹height›',
		);
		const description = await editor.part('node-error-description').innerText();
		expect(description).toMatch(
			/Nothing was charged for it\. Change the parameter, or choose another model/,
		);
		expect(description).toMatch(/1 item was not sent\. 2 generations have already been charged\b/);
		// The second one may be known to be ready from the storage alone, before any check of its status.
		expect(description).toMatch(/Charged: [\w-]+ \(completed\), [\w-]+ \(\w+\)\.$/);
		await editor.shoot('error-details');
		await editor.closeNode();
	});

	it('appears in the log of n8n with its message', async () => {
		const says = 'Invalid parameter: No ‹b›paint‹/b› left & ‹width›x‹height›';
		await until('the log shows it', async () => (await readFile(stage.log, 'utf8')).includes(says));
	});
});

const examples = join(repository, 'examples');

describe.each(readdirSync(examples).filter((name) => name.endsWith('.json')))(
	'the example %s',
	(name) => {
		it('opens with a readable note', async () => {
			const workflow = await stage.save(await readWorkflowFile(join(examples, name)));
			await editor.openWorkflow(workflow.id);
			const note = editor.part('sticky').first();
			await note.waitFor();
			await editor.shoot(`example-${name.replace('.json', '')}`);
			const { zoom, beyond } = await note.evaluate(measure);
			expect(zoom).toBeGreaterThan(0.7);
			// Half of a pixel is not seen.
			expect(beyond).toBeLessThan(0.5);
		});
	},
);
