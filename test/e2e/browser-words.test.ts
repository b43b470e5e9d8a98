/** Checks the texts in n8n's editor in a real browser: errors, hints, and the notes of the examples. */
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readWorkflowFile } from '../../tools/n8n/rest';
import { Editor } from './support/browser';
import { owner, Stage } from './support/stage';
import { repository } from './support/surroundings';
import { byHand, imageNode } from './support/workflows';

let stage: Stage;
let editor: Editor;

beforeAll(async () => {
	stage = await Stage.open({ name: 'browser-words' });
	editor = await Editor.open(stage.n8n.url, owner, stage.folder);
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

const ours = [
	'Image Generation',
	'Video Generation',
	'Wait for Completion',
	'Generation Models',
	'Generation Credits',
];

describe('the node panel', () => {
	it('ranks the generating nodes above the read-only nodes for the words that people search for', async () => {
		await editor.openWorkflow();
		const ranks: string[] = [];
		const words = ['image', 'video', 'text to image', 'text to video', 'AI image'];
		for (const word of [...words, 'AI video', 'animate', 'picture', 'media generation']) {
			const found = await editor.search(word);
			const own = found.filter((name) => ours.includes(name));
			ranks.push(`${word}: ${own.map((name) => `${name} ${found.indexOf(name) + 1}`).join(', ')}`);
			expect(own[0]).toMatch(/^(Image|Video) Generation$/);
			if (/video|animate/.test(word)) expect(own[0]).toBe('Video Generation');
		}
		await writeFile(join(stage.folder, 'search-ranks.txt'), ranks.join('\n'));
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
		expect(description).toMatch(/Nothing was charged for this item\. Change the parameter\./);
		expect(description).toMatch(/1 item was skipped\. 2 generations have already been charged\./);
		// The second one may be known to be ready from the storage alone, before any check of its status.
		expect(description).toMatch(/Charged: [\w-]+ \(completed\), [\w-]+ \(\w+\)\.$/);
		await editor.shoot('error-details');
		await editor.closeNode();
	});

	it('appears in the log of n8n with its message', () => {
		const lines = stage.n8n.service.output.split('\n');
		expect(lines.filter((line) => /NodeApiError\s*$/.test(line))).toEqual([]);
	});
});

describe('a hint', () => {
	it('says what is ready, what is not, and why', async () => {
		const prompts = ['a boat', '[fail: no <i>paint</i>] a ship', 'a raft', '[fail] a dinghy'];
		const settings = { onError: 'continueRegularOutput' as const };
		const file = byHand('Half of it', prompts, imageNode({}, settings));
		await editor.openWorkflow((await stage.save(file)).id);
		await editor.execute(4);
		await editor.openNode('Images');
		const hint = editor.part('node-hint');
		await hint.waitFor();
		expect(await hint.innerText()).toContain('2 of 4 ready. 2 failed and were refunded.');
		await editor.shoot('hint');
		await editor.closeNode();
	});
});

describe('the canvas', () => {
	it('shows what each node is set to', async () => {
		const file = byHand('Subtitles', ['a boat'], imageNode());
		await editor.openWorkflow((await stage.save(file)).id);
		await editor.node('Images').getByText('aurora-image-1').waitFor();
	});
});

describe('as a tool', () => {
	it('has no field for a file, because a tool never receives one', async () => {
		const file = await readWorkflowFile(join(repository, 'examples', 'ai-agent.json'));
		await editor.openWorkflow((await stage.save(file)).id);
		await editor.openNode('Create Picture');
		const form = editor.part('ndv');
		await form.getByText('Wait for Completion', { exact: true }).waitFor();
		expect(await form.getByText('Download Output', { exact: true }).count()).toBe(0);
		expect(await form.getByText('Put Output in Field', { exact: true }).count()).toBe(0);
		await editor.shoot('tool-form');
		await editor.closeNode();
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
			expect(beyond).toBeLessThanOrEqual(0);
		});
	},
);
